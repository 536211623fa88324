#include "common/formats/results_text.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/formats/results_json.h"
#include "common/plan/metric_fields.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;

// Appends members of one object.
class Members {
 public:
  explicit Members(std::string* out) : out_(out) { *out_ += '{'; }
  void End() { *out_ += '}'; }

  void Text(std::string_view name, std::string_view value) {
    Name(name);
    String(value);
  }
  void Raw(std::string_view name, std::string_view json) {
    Name(name);
    *out_ += json;
  }
  template <typename N>
  void Number(std::string_view name, N value) {
    Name(name);
    char digits[40];
    if constexpr (std::is_same_v<N, bool>) {
      *out_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<N>) {
      out_->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    } else if (!std::isfinite(value)) {
      *out_ += "null";
    } else {
      const std::string_view shortest(
          digits,
          static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
      *out_ += shortest;
      if (shortest.find_first_of(".e") == std::string_view::npos) *out_ += ".0";
    }
  }
  void Time(std::string_view name, UnixTimeMs time) {
    if (time.ms == 0) return Raw(name, "null");
    Number(name, time.ms);
  }
  // An element of a list or a member's value.
  void String(std::string_view value) {
    bool plain = true;
    for (const char c : value) plain = plain && c >= ' ' && c < 0x7f && c != '"' && c != '\\';
    if (!plain) {
      *out_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
      return;
    }
    *out_ += '"';
    *out_ += value;
    *out_ += '"';
  }
  void Name(std::string_view name) {
    if (!std::exchange(first_, false)) *out_ += ',';
    *out_ += '"';
    *out_ += name;
    *out_ += "\":";
  }
  void Texts(std::string_view name, const std::vector<std::string>& values) {
    Name(name);
    *out_ += '[';
    for (const std::string& value : values) {
      if (&value != &values.front()) *out_ += ',';
      String(value);
    }
    *out_ += ']';
  }

 private:
  std::string* const out_;
  bool first_ = true;
};

void AddMetrics(const plan::Metrics& metrics, std::string* out) {
  Members m(out);
  plan::ForEachMetric(metrics, [&](const char* name, const auto& value) {
    if (value) m.Number(name, *value);
  });
  m.End();
}

void AddPhases(const plan::Result& result, std::string* out) {
  *out += '[';
  for (const plan::PhaseSpan& span : result.phases) {
    if (&span != &result.phases.front()) *out += ',';
    Members m(out);
    m.Text("phase", plan::ToString(span.phase));
    m.Number("duration_s", static_cast<double>(span.duration_ns) / 1e9);
    m.Number("frozen_s", static_cast<double>(span.frozen_ns) / 1e9);
    m.End();
  }
  *out += ']';
}

void AddInForce(const plan::Result& result, std::string* out) {
  Members m(out);
  for (const auto& [name, value] : result.in_force) {
    // Names come from processes, too.
    std::string quoted;
    Members(&quoted).String(name);
    m.Text(std::string_view(quoted).substr(2, quoted.size() - 3), value);
  }
  m.End();
}

void AddProof(const plan::StartProof& proof, std::string* out) {
  Members m(out);
  m.Number("cache_files_before", proof.cache_files_before);
  m.Number("cache_hits", proof.cache_hits);
  m.Number("cache_misses", proof.cache_misses);
  m.Number("proven", proof.proven);
  m.End();
}

void AddResult(const plan::Result& r, Members* members, std::string* out) {
  Members& m = *members;
  m.Text("outcome", plan::ToString(r.outcome));
  m.Text("status", r.status);
  m.Text("phase", plan::ToString(r.phase));
  m.Text("blame", plan::ToString(r.blame));
  m.Text("error", r.error);
  m.Text("detail", r.detail);
  m.Number("exit_code", r.exit_code);
  m.Number("exit_signal", r.exit_signal);
  m.Number("batch_size", r.batch_size);
  m.Text("weights", r.weights);
  m.Number("threads", r.threads);
  m.Text("cores", r.cores);
  m.Text("accuracy_rule", r.accuracy_rule);
  m.Text("accuracy_function_hash", r.accuracy_function_hash);
  m.Name("metrics");
  AddMetrics(r.metrics, out);
  m.Name("phases");
  AddPhases(r, out);
  m.Name("start_proof");
  AddProof(r.start_proof, out);
  m.Name("in_force");
  AddInForce(r, out);
  m.Texts("notes", r.notes);
  m.Texts("artifacts", r.artifacts);
  if (!r.compiler_report.empty()) {
    const Json report = Json::parse(r.compiler_report, nullptr, /*allow_exceptions=*/false);
    if (!report.is_discarded()) {
      m.Raw("compiler_report", report.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  if (!r.eager_ns.empty() || !r.compiled_ns.empty()) {
    m.Raw("samples", Json{{"eager_ns", r.eager_ns}, {"compiled_ns", r.compiled_ns}}.dump());
  }
}

}  // namespace

std::string ResultsHead(const store::JobRow& job) {
  // Everything but the rows, which become the last member.
  Json head = ResultsJson(job, {});
  head.erase("results");
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();
  return text + ",\"results\":[";
}

std::string ResultsTail() { return "\n]}\n"; }

absl::Status ResultsText::Add(const store::ResultRow& row) {
  if (const absl::Status read = reader_.Read(row.plan); !read.ok()) {
    return Annotate(read, absl::StrCat("experiment ", row.id.value));
  }
  text_ += std::exchange(first_, false) ? "\n" : ",\n";
  Members m(&text_);
  m.Number("id", row.id.value);
  m.Raw("experiment", reader_.PublicJsonText());
  m.Text("series", row.series);
  m.Text("state", row.state);
  m.Number("attempt", row.attempt);
  m.Text("worker", row.worker.value);
  m.Text("worker_host", row.worker_host);
  m.Number("lease", row.lease.value);
  m.Time("started_unix_ms", row.started_at);
  m.Time("finished_unix_ms", row.finished_at);
  if (row.result) {
    AddResult(*row.result, &m, &text_);
  } else {
    m.Raw("outcome", "null");
    m.Text("status", "");
    m.Raw("phase", "null");
    m.Raw("blame", "null");
    m.Raw("metrics", "{}");
  }
  m.End();
  return absl::OkStatus();
}

}  // namespace dynbench::formats

#include "common/store/table_rows.h"

#include <optional>
#include <string>
#include <type_traits>

#include "common/base/status.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"
#include "nlohmann/json.hpp"

namespace dynbench::store {
namespace {

// As plan::ForEachMetric, of those that the table shows.
template <typename Visit>
void ForEachTableMetric(plan::Metrics& m, Visit&& visit) {
  visit("speedup", m.speedup);
  visit("abs_latency_ms", m.abs_latency_ms);
  visit("eager_latency_ms", m.eager_latency_ms);
  visit("eager_spread", m.eager_spread);
  visit("compiled_spread", m.compiled_spread);
  visit("compilation_latency_s", m.compilation_latency_s);
  visit("graph_breaks", m.graph_breaks);
  visit("compression_ratio", m.compression_ratio);
  visit("compiled_peak_memory_bytes", m.compiled_peak_memory_bytes);
  visit("tolerance_max", m.tolerance_max);
  visit("tolerance_mean", m.tolerance_mean);
  visit("tolerance_std", m.tolerance_std);
  visit("break_even_calls", m.break_even_calls);
}

const std::string& Sql() {
  static const auto* const sql = new std::string([] {
    std::string text =
        "SELECT e.id, e.job, p.plan, e.state, e.attempts, coalesce(r.lease, e.lease), r.outcome,"
        " r.status, r.phase, r.blame, r.error, r.batch_size, r.notes";
    plan::Metrics metrics;
    ForEachTableMetric(metrics,
                       [&](const char* name, auto&) { text += ", r." + std::string(name); });
    return text +
           " FROM experiment e JOIN experiment_plan p ON p.experiment = e.id"
           " LEFT JOIN result r ON r.experiment = e.id"
           " WHERE e.job = ? AND e.id > ? ORDER BY e.id LIMIT ?";
  }());
  return *sql;
}

template <typename Word>
bool Take(std::optional<Word> word, Word* out) {
  if (word) *out = *word;
  return word.has_value();
}

absl::Status ReadNotes(const std::string& text, std::vector<std::string>* notes) {
  if (text == "[]") return absl::OkStatus();
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return absl::DataLossError("notes is no JSON array");
  for (const nlohmann::json& note : json) {
    if (note.is_string()) notes->push_back(note.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadTableResult(const Statement& row, plan::Result* r) {
  if (!Take(plan::ParseOutcome(row.Text(6)), &r->outcome) ||
      !Take(plan::ParsePhase(row.Text(8)), &r->phase) ||
      !Take(plan::ParseBlame(row.Text(9)), &r->blame)) {
    return absl::DataLossError("outcome, phase or blame has no word of its column");
  }
  r->status = row.Text(7);
  r->error = row.Text(10);
  r->batch_size = static_cast<int>(row.Int(11));
  RETURN_IF_ERROR(ReadNotes(row.Text(12), &r->notes));
  int column = 13;
  ForEachTableMetric(r->metrics, [&](const char*, auto& value) {
    using Number = typename std::remove_reference_t<decltype(value)>::value_type;
    if (!row.IsNull(column)) {
      if constexpr (std::is_integral_v<Number>) {
        value = row.Int(column);
      } else {
        value = row.Real(column);
      }
    }
    ++column;
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status ForEachTableRow(Database& db, JobId job, ExperimentId after, int64_t limit,
                             const std::function<absl::Status(const ResultRow&)>& visit) {
  Statement query(db, Sql());
  query.Bind(job, after, limit > 0 ? limit : int64_t{-1});
  ResultRow out;
  return ForEachRow(query, [&](const Statement& row) {
    out.id = ExperimentId(row.Int(0));
    out.job = JobId(row.Int(1));
    out.plan = row.Text(2);
    out.state = row.Text(3);
    out.attempt = static_cast<int>(row.Int(4));
    out.lease = LeaseEpoch(row.Int(5));
    out.result.reset();
    if (out.state == "done") {
      const absl::Status read = ReadTableResult(row, &out.result.emplace());
      if (!read.ok()) return Annotate(read, absl::StrCat("experiment ", out.id.value));
    }
    return visit(out);
  });
}

}  // namespace dynbench::store

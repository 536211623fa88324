#include "tools/dynbenchctl/results_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/text_table.h"

namespace dynbench::cli {
namespace {

using plan::Experiment;
using plan::Outcome;
using plan::Test;

std::string Number(std::optional<double> value, const char* format) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

// What tells the lines of the table apart, beside the model.
constexpr std::array kKeyNames = {"suite", "mode",        "configuration", "precision",
                                  "device", "environment", "start"};
using Key = std::array<std::string, kKeyNames.size()>;

Key KeyOf(const Experiment& e) {
  return {e.suite,  std::string(ToString(e.mode)),  e.configuration,
          std::string(ToString(e.precision)), e.device, e.environment,
          std::string(ToString(e.start))};
}

struct Line {
  std::string model;
  Key key;
  const RowView* performance = nullptr;
  const RowView* accuracy = nullptr;
};

// In plan order of the first row of each line.
std::vector<Line> Lines(const std::vector<RowView>& rows) {
  std::vector<Line> lines;
  std::map<std::pair<std::string, Key>, size_t> index;
  for (const RowView& view : rows) {
    const Experiment& e = view.row.experiment;
    const Key key = KeyOf(e);
    const auto [found, is_new] = index.emplace(std::pair(e.model, key), lines.size());
    if (is_new) lines.push_back({e.model, key, nullptr, nullptr});
    Line& line = lines[found->second];
    (e.test == Test::kPerformance ? line.performance : line.accuracy) = &view;
  }
  return lines;
}

// Interquartile range over median, of the noisier side.
std::optional<double> Spread(const plan::Metrics& m) {
  if (!m.eager_spread && !m.compiled_spread) return std::nullopt;
  return 100 * std::max(m.eager_spread.value_or(0), m.compiled_spread.value_or(0));
}

// What to show for a test that brought no figure.
std::string ShortState(const RowView* view) {
  if (view == nullptr) return "";
  if (!view->row.result) return view->phase.empty() ? view->row.state : view->phase;
  const plan::Result& result = *view->row.result;
  return result.status.empty() ? std::string(ToString(result.outcome)) : result.status;
}

std::vector<std::string> Cells(const Line& line) {
  std::vector<std::string> cells = {line.model};
  const plan::Metrics none;
  const bool measured = line.performance != nullptr && line.performance->row.result &&
                        line.performance->row.result->outcome == Outcome::kPassed;
  const plan::Metrics& m = measured ? line.performance->row.result->metrics : none;
  cells.push_back(measured ? Number(m.speedup, "%.3fx") : ShortState(line.performance));
  const std::string spread = Number(Spread(m), "%.1f");
  cells.push_back(spread.empty() ? "" : "±" + spread + "%");
  cells.push_back(Number(m.eager_latency_ms, "%.3f"));
  cells.push_back(Number(m.abs_latency_ms, "%.3f"));
  cells.push_back(Number(m.compilation_latency_s, "%.2f"));
  cells.push_back(Number(m.compression_ratio, "%.2fx"));
  cells.push_back(ShortState(line.accuracy));
  return cells;
}

std::string MainTable(const std::vector<RowView>& rows) {
  const auto lines = Lines(rows);
  std::vector<size_t> varying;
  std::string heading;
  for (size_t k = 0; k < kKeyNames.size(); ++k) {
    const bool same = std::all_of(lines.begin(), lines.end(), [&](const Line& line) {
      return line.key[k] == lines.front().key[k];
    });
    if (!same) {
      varying.push_back(k);
    } else if (!lines.empty()) {
      heading += (heading.empty() ? "" : " · ") + std::string(kKeyNames[k]) + " " +
                 lines.front().key[k];
    }
  }
  std::vector<TextTable::Column> columns = {{"model"}};
  for (const size_t k : varying) columns.push_back({kKeyNames[k]});
  const auto right = TextTable::Align::kRight;
  for (const char* name : {"speedup", "spread", "eager ms", "compiled ms", "compile s", "memory"}) {
    columns.push_back({name, right});
  }
  columns.push_back({"accuracy"});
  TextTable table(columns);
  for (const Line& line : lines) {
    auto cells = Cells(line);
    std::vector<std::string> keys;
    for (const size_t k : varying) keys.push_back(line.key[k]);
    cells.insert(cells.begin() + 1, keys.begin(), keys.end());
    table.AddRow(std::move(cells));
  }
  return heading + "\n\n" + table.Render();
}

std::string Name(const RowView& view) {
  const Experiment& e = view.row.experiment;
  return e.model + " " + std::string(ToString(e.mode)) + " " + std::string(ToString(e.test));
}

std::string FailureTable(const std::vector<RowView>& rows) {
  TextTable table({{"id"}, {"experiment"}, {"outcome"}, {"status"}, {"phase"}, {"blame"},
                   {"error"}});
  bool any = false;
  for (const RowView& view : rows) {
    if (!IsFailure(view)) continue;
    any = true;
    const plan::Result& r = *view.row.result;
    table.AddRow({std::to_string(view.row.id.value), Name(view), std::string(ToString(r.outcome)),
                  r.status, std::string(ToString(r.phase)), std::string(ToString(r.blame)),
                  Shorten(OneLine(r.error), 120)});
  }
  return any ? "\nnot passed\n" + table.Render() : "";
}

// Skipped and cancelled experiments by reason: forty models with one reason are one line.
std::string ReasonLines(const std::vector<RowView>& rows) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const RowView& view : rows) {
    if (!view.row.result) continue;
    const plan::Result& r = *view.row.result;
    if (r.outcome != Outcome::kSkipped && r.outcome != Outcome::kCancelled) continue;
    const std::string reason = view.row.experiment.reason.empty() ? r.error
                                                                  : view.row.experiment.reason;
    by_reason[std::string(ToString(r.outcome)) + ": " + OneLine(reason)].push_back(Name(view));
  }
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    text += "  " + std::to_string(names.size()) + " " + reason + " (" + names.front() +
            (names.size() > 1 ? ", …" : "") + ")\n";
  }
  return text.empty() ? "" : "\nnot run\n" + text;
}

Json RowJson(const RowView& view, bool with_samples) {
  const store::ResultRow& row = view.row;
  Json json;
  json["id"] = row.id.value;
  json["experiment"] = Json::parse(plan::ToPublicJson(row.experiment).dump());
  json["experiment"]["id"] = row.id.value;
  json["experiment"]["profile"] = row.experiment.profile;
  json["experiment"]["weights"] = std::string(ToString(row.experiment.weights));
  json["state"] = row.state;
  const bool done = row.result.has_value();
  const plan::Result r = row.result.value_or(plan::Result());
  json["outcome"] = done ? Json(std::string(ToString(r.outcome))) : Json(nullptr);
  json["status"] = done ? Json(r.status) : Json(nullptr);
  json["phase"] = done ? Json(std::string(ToString(r.phase)))
                       : (view.phase.empty() ? Json(nullptr) : Json(view.phase));
  json["blame"] = done ? Json(std::string(ToString(r.blame))) : Json(nullptr);
  json["error"] = r.error;
  json["attempt"] = row.attempt;
  json["worker"] = row.worker.value;
  json["worker_host"] = row.worker_host;
  json["started_unix_ms"] = row.started_at.ms == 0 ? Json(nullptr) : Json(row.started_at.ms);
  json["finished_unix_ms"] = row.finished_at.ms == 0 ? Json(nullptr) : Json(row.finished_at.ms);
  json["metrics"] = Json::parse(plan::MetricsToJson(r.metrics).dump());
  if (const auto spread = Spread(r.metrics)) json["spread_percent"] = *spread;
  if (!done) return json;
  json["detail"] = r.detail;
  json["exit_code"] = r.exit_code;
  json["exit_signal"] = r.exit_signal;
  json["batch_size"] = r.batch_size;
  json["weights"] = r.weights;
  json["threads"] = r.threads;
  json["cores"] = r.cores;
  json["accuracy_rule"] = r.accuracy_rule;
  json["accuracy_function_hash"] = r.accuracy_function_hash;
  json["phases"] = Json::array();
  for (const plan::PhaseSpan& span : r.phases) {
    json["phases"].push_back({{"phase", std::string(ToString(span.phase))},
                              {"duration_ns", span.duration_ns},
                              {"frozen_ns", span.frozen_ns}});
  }
  json["start_proof"] = {{"cache_files_before", r.start_proof.cache_files_before},
                         {"cache_hits", r.start_proof.cache_hits},
                         {"cache_misses", r.start_proof.cache_misses},
                         {"proven", r.start_proof.proven}};
  json["in_force"] = r.in_force;
  json["notes"] = r.notes;
  if (with_samples) {
    json["eager_ns"] = r.eager_ns;
    json["compiled_ns"] = r.compiled_ns;
  }
  return json;
}

}  // namespace

bool IsFailure(const RowView& view) {
  return view.row.result && (view.row.result->outcome == Outcome::kFailed ||
                             view.row.result->outcome == Outcome::kLost);
}

std::string OutcomeWord(const RowView& view) {
  return view.row.result ? std::string(ToString(view.row.result->outcome)) : view.row.state;
}

std::string MainFigure(const RowView& view) {
  if (!view.row.result) return "";
  const plan::Result& r = *view.row.result;
  if (view.row.experiment.test == Test::kAccuracy) return r.status;
  std::string text = Number(r.metrics.speedup, "%.3fx");
  if (r.metrics.eager_latency_ms && r.metrics.abs_latency_ms) {
    text += " (" + Number(r.metrics.eager_latency_ms, "%.2f") + " → " +
            Number(r.metrics.abs_latency_ms, "%.2f") + " ms)";
  }
  if (r.metrics.compilation_latency_s) {
    text += ", compiled in " + Number(r.metrics.compilation_latency_s, "%.1f") + " s";
  }
  return text;
}

std::string RowLine(const RowView& view) {
  std::string word = OutcomeWord(view);
  word.resize(std::max<size_t>(word.size(), 9), ' ');
  std::string line = word + " " + plan::DisplayName(view.row.experiment);
  if (!view.row.result) return view.phase.empty() ? line : line + ": " + view.phase;
  const plan::Result& r = *view.row.result;
  if (r.outcome == Outcome::kPassed) return line + ": " + MainFigure(view);
  if (r.outcome == Outcome::kSkipped || r.outcome == Outcome::kCancelled) {
    const std::string& reason =
        view.row.experiment.reason.empty() ? r.error : view.row.experiment.reason;
    return reason.empty() ? line : line + ": " + OneLine(reason);
  }
  line += ": " + (r.status.empty() ? std::string(ToString(r.outcome)) : r.status) + " in " +
          std::string(ToString(r.phase)) + " (" + std::string(ToString(r.blame)) + ")";
  return r.error.empty() ? line : line + ": " + OneLine(r.error);
}

std::string ResultsText(const JobView& job, const std::vector<RowView>& rows) {
  std::string text;
  if (!rows.empty()) {
    text += MainTable(rows) + FailureTable(rows) + ReasonLines(rows) + "\n";
  }
  return text + StatusLine(job) + "\n";
}

Json ResultsJson(const JobView& job, const std::vector<RowView>& rows, bool with_samples) {
  Json json = {{"schema", "dynbench.results/1"},
               {"job", JobJson(job)},
               {"coverage", CoverageJson(job.row.coverage)},
               {"results", Json::array()}};
  for (const RowView& view : rows) json["results"].push_back(RowJson(view, with_samples));
  return json;
}

}  // namespace dynbench::cli

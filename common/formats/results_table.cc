#include "common/formats/results_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/formats/error_clusters.h"
#include "common/formats/format_number.h"
#include "common/formats/pair_endings.h"

namespace dynbench::formats {
namespace {

using plan::Outcome;
using plan::Test;
using store::ResultRow;

// From this many models on, failures with one error are one line.
constexpr size_t kClusterModels = 3;

// A word of an experiment that a job may vary; those that it does not vary are said once, on top.
struct Dimension {
  const char* title;
  std::string (*of)(const plan::Experiment&);
};
const std::array<Dimension, 10> kDimensions = {{
    {"suite", [](const plan::Experiment& e) { return e.suite; }},
    {"mode", [](const plan::Experiment& e) { return std::string(plan::ToString(e.mode)); }},
    {"precision",
     [](const plan::Experiment& e) { return std::string(plan::ToString(e.precision)); }},
    {"configuration", [](const plan::Experiment& e) { return e.configuration; }},
    {"device", [](const plan::Experiment& e) { return e.device; }},
    {"environment", [](const plan::Experiment& e) { return e.environment; }},
    {"profile", [](const plan::Experiment& e) { return e.profile; }},
    {"start", [](const plan::Experiment& e) { return std::string(plan::ToString(e.start)); }},
    {"round", [](const plan::Experiment& e) { return e.round > 0 ? std::to_string(e.round) : ""; }},
    {"side", [](const plan::Experiment& e) { return e.side; }},
}};

std::vector<std::string> WordsOf(const plan::Experiment& e) {
  std::vector<std::string> words;
  words.reserve(kDimensions.size());
  for (const Dimension& dimension : kDimensions) words.push_back(dimension.of(e));
  return words;
}

std::vector<bool> Varies(const std::vector<ResultRow>& rows) {
  std::vector<bool> varies(kDimensions.size(), false);
  for (size_t d = 0; !rows.empty() && d < kDimensions.size(); ++d) {
    const std::string first = kDimensions[d].of(rows[0].experiment);
    varies[d] = std::any_of(rows.begin(), rows.end(), [&](const ResultRow& row) {
      return kDimensions[d].of(row.experiment) != first;
    });
  }
  return varies;
}

// The tests of one model under the same words.
struct Pair {
  const ResultRow* performance = nullptr;
  const ResultRow* accuracy = nullptr;
  const ResultRow* tolerance = nullptr;
  const ResultRow* batch_size = nullptr;

  const ResultRow*& Place(Test test) {
    switch (test) {
      case Test::kPerformance:
        return performance;
      case Test::kAccuracy:
        return accuracy;
      case Test::kTolerance:
        return tolerance;
      case Test::kBatchSize:
        break;
    }
    return batch_size;
  }
  const ResultRow& any() const {
    for (const ResultRow* row : {performance, accuracy, tolerance}) {
      if (row != nullptr) return *row;
    }
    return *batch_size;
  }
};

// In the order of the rows. A row whose place is taken opens a pair of its own.
std::vector<Pair> Pairs(const std::vector<ResultRow>& rows) {
  std::vector<Pair> pairs;
  std::map<std::vector<std::string>, size_t> index;
  for (const ResultRow& row : rows) {
    std::vector<std::string> key = WordsOf(row.experiment);
    key.push_back(row.experiment.model);
    const auto found = index.find(key);
    if (found != index.end()) {
      const ResultRow*& place = pairs[found->second].Place(row.experiment.test);
      if (place == nullptr) {
        place = &row;
        continue;
      }
    }
    index[key] = pairs.size();
    pairs.emplace_back().Place(row.experiment.test) = &row;
  }
  return pairs;
}

// What the row has come to, as one word: the state, the outcome, or upstream's status word.
Cell StatusCell(const ResultRow* row) {
  if (row == nullptr) return {"-", Tone::kDim};
  if (!row->result) return {row->state, row->state == "running" ? Tone::kStrong : Tone::kDim};
  const plan::Result& result = *row->result;
  const std::string outcome(plan::ToString(result.outcome));
  switch (result.outcome) {
    case Outcome::kPassed:
      return {result.status.empty() ? outcome : result.status, Tone::kGood};
    case Outcome::kFailed:
      return {result.status.empty() ? outcome : result.status, Tone::kBad};
    case Outcome::kLost:
      return {outcome, Tone::kBad};
    case Outcome::kCancelled:
      return {outcome, Tone::kWarning};
    case Outcome::kSkipped:
      return {outcome, Tone::kDim};
  }
  return {outcome, Tone::kPlain};
}

Cell NumberCell(const std::optional<double>& value,
                const std::function<std::string(double)>& format) {
  if (!value) return {"-", Tone::kDim};
  return {format(*value), Tone::kPlain};
}

// Half the interquartile range, as a part of the median.
std::string PlusMinus(const std::optional<double>& spread) {
  if (!spread) return "";
  const std::string percent = Percent(*spread / 2);
  return absl::StrCat(" ± ", std::string(5 - std::min<size_t>(5, percent.size()), ' '), percent);
}

Cell LatencyCell(const std::optional<double>& ms, const std::optional<double>& spread) {
  if (!ms) return {"-", Tone::kDim};
  return {Milliseconds(*ms) + PlusMinus(spread), Tone::kPlain};
}

Cell BatchCell(const Pair& pair) {
  const ResultRow& row = pair.any();
  const int measured = row.result ? row.result->batch_size : 0;
  const int batch = measured > 0 ? measured : row.experiment.batch_size;
  return {batch > 0 ? std::to_string(batch) : "-", Tone::kPlain};
}

// Which tests the job has, so which columns its table.
struct Tests {
  bool performance = false, accuracy = false, tolerance = false, batch_size = false;
};

std::vector<Column> Columns(const std::vector<bool>& varies, const Tests& tests) {
  std::vector<Column> columns = {{"model", Align::kLeft, 0}};
  for (size_t d = 0; d < kDimensions.size(); ++d) {
    if (varies[d]) columns.push_back({kDimensions[d].title, Align::kLeft, 0});
  }
  columns.push_back({"batch", Align::kRight, 4});
  if (tests.performance) {
    columns.push_back({"performance", Align::kLeft, 0});
    columns.push_back({"speedup", Align::kRight, 0});
    columns.push_back({"eager ms", Align::kRight, 0});
    columns.push_back({"compiled ms", Align::kRight, 0});
    columns.push_back({"compile s", Align::kRight, 1});
    columns.push_back({"pays after", Align::kRight, 2});
    columns.push_back({"breaks", Align::kRight, 5});
    columns.push_back({"memory", Align::kRight, 3});
    columns.push_back({"peak MB", Align::kRight, 6});
  }
  if (tests.accuracy) columns.push_back({"accuracy", Align::kLeft, 0});
  if (tests.tolerance) {
    columns.push_back({"tolerance", Align::kLeft, 0});
    columns.push_back({"max", Align::kRight, 0});
    columns.push_back({"mean", Align::kRight, 1});
    columns.push_back({"std", Align::kRight, 1});
  }
  if (tests.batch_size) {
    columns.push_back({"batch size", Align::kLeft, 0});
    columns.push_back({"largest", Align::kRight, 0});
  }
  return columns;
}

// Calls after which compiling has paid; "never" where a compiled call is not faster.
Cell PaysAfterCell(const plan::Metrics& m) {
  if (m.break_even_calls) return {Fixed(std::ceil(*m.break_even_calls), 0), Tone::kPlain};
  if (m.speedup && *m.speedup <= 1) return {"never", Tone::kWarning};
  return {"-", Tone::kDim};
}

void AddPerformance(const ResultRow* row, std::vector<Cell>* cells) {
  static const plan::Metrics kNone;
  const bool measured = row != nullptr && row->result && row->result->outcome == Outcome::kPassed;
  const plan::Metrics& m = measured ? row->result->metrics : kNone;
  cells->push_back(StatusCell(row));
  Cell speedup = NumberCell(m.speedup, Times);
  if (m.speedup && *m.speedup < 0.95) speedup.tone = Tone::kWarning;  // upstream's line for it
  cells->push_back(speedup);
  cells->push_back(LatencyCell(m.eager_latency_ms, m.eager_spread));
  cells->push_back(LatencyCell(m.abs_latency_ms, m.compiled_spread));
  cells->push_back(NumberCell(m.compilation_latency_s, [](double s) { return Fixed(s, 1); }));
  cells->push_back(PaysAfterCell(m));
  cells->push_back(m.graph_breaks ? Cell{std::to_string(*m.graph_breaks)} : Cell{"-", Tone::kDim});
  cells->push_back(NumberCell(m.compression_ratio, Times));
  cells->push_back(
      NumberCell(m.compiled_peak_memory_bytes, [](double b) { return Fixed(b / 1e6, 0); }));
}

void AddTolerance(const ResultRow* row, std::vector<Cell>* cells) {
  static const plan::Metrics kNone;
  const plan::Metrics& m = row != nullptr && row->result ? row->result->metrics : kNone;
  const auto distance = [](double value) { return absl::StrCat(value); };
  cells->push_back(StatusCell(row));
  cells->push_back(NumberCell(m.tolerance_max, distance));
  cells->push_back(NumberCell(m.tolerance_mean, distance));
  cells->push_back(NumberCell(m.tolerance_std, distance));
}

void AddBatchSize(const ResultRow* row, std::vector<Cell>* cells) {
  cells->push_back(StatusCell(row));
  const bool found = row != nullptr && row->result && row->result->outcome == Outcome::kPassed;
  cells->push_back(found ? Cell{std::to_string(row->result->batch_size), Tone::kStrong}
                         : Cell{"-", Tone::kDim});
}

std::vector<Cell> CellsOf(const Pair& pair, const std::vector<bool>& varies, const Tests& tests) {
  std::vector<Cell> cells = {{pair.any().experiment.model, Tone::kPlain}};
  for (size_t d = 0; d < kDimensions.size(); ++d) {
    if (varies[d]) cells.push_back({kDimensions[d].of(pair.any().experiment), Tone::kPlain});
  }
  cells.push_back(BatchCell(pair));
  if (tests.performance) AddPerformance(pair.performance, &cells);
  if (tests.accuracy) cells.push_back(StatusCell(pair.accuracy));
  if (tests.tolerance) AddTolerance(pair.tolerance, &cells);
  if (tests.batch_size) AddBatchSize(pair.batch_size, &cells);
  return cells;
}

std::string Title(const store::JobRow& job, const std::vector<ResultRow>& rows,
                  const std::vector<bool>& varies, const TableStyle& style) {
  std::string text = Paint(absl::StrCat("job ", job.id.value), Tone::kStrong, style);
  if (!rows.empty()) {
    const std::vector<std::string> words = WordsOf(rows[0].experiment);
    for (size_t d = 0; d < words.size(); ++d) {
      if (varies[d] || words[d].empty() ||
          (std::string_view(kDimensions[d].title) == "profile" && words[d] == "default")) {
        continue;
      }
      const std::string_view title = kDimensions[d].title;
      // These two need their name beside them: "default" alone says nothing.
      const bool named = title == "environment" || title == "profile" || title == "configuration";
      text += "  " + (named ? std::string(title) + " " : "") + Printable(words[d]);
    }
  }
  if (!job.label.empty()) text += absl::StrCat("  (", Printable(job.label), ")");
  return text + "\n";
}

// The model and, if the job varies them, its words: "repvgg_a2 performance cudagraphs".
std::string Subject(const ResultRow& row, const std::vector<bool>& varies) {
  std::string text =
      absl::StrCat(row.experiment.model, " ", std::string(plan::ToString(row.experiment.test)));
  for (size_t d = 0; d < kDimensions.size(); ++d) {
    if (varies[d]) text += " " + kDimensions[d].of(row.experiment);
  }
  return text;
}

std::string Failures(const store::JobRow& job, const std::vector<ResultRow>& rows,
                     const std::vector<bool>& varies, const TableStyle& style) {
  const std::vector<ErrorCluster> clusters = ClusterErrors(rows);
  std::string text = ClusterLines(clusters, kClusterModels);
  std::set<const ResultRow*> told;
  for (const ErrorCluster& cluster : clusters) {
    if (cluster.models.size() >= kClusterModels) {
      told.insert(cluster.rows.begin(), cluster.rows.end());
    }
  }
  const ResultRow* first = nullptr;
  for (const ResultRow& row : rows) {
    if (!row.result) continue;
    const Outcome outcome = row.result->outcome;
    if (outcome != Outcome::kFailed && outcome != Outcome::kLost) continue;
    if (first == nullptr) first = &row;
    if (told.contains(&row)) continue;
    text += absl::StrCat("  ", Paint(Printable(Subject(row, varies)), Tone::kStrong, style), ": ",
                         Printable(FailureText(*row.result)), "\n");
  }
  if (first == nullptr) return "";
  return absl::StrCat("\n", Paint("failed or lost", Tone::kBad, style), "\n", text,
                      "  more: dynbenchctl logs ", job.id.value, " ", first->experiment.model,
                      "\n");
}

// Reasons of skipped and cancelled rows, each once with how many it holds for.
std::string Reasons(const std::vector<ResultRow>& rows, Outcome outcome, const TableStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const ResultRow& row : rows) {
    if (!row.result || row.result->outcome != outcome) continue;
    std::string reason = row.experiment.reason.empty() ? row.result->error : row.experiment.reason;
    if (reason.empty()) reason = "no reason was given";
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& entry) { return entry.first == reason; });
    auto& models = known != reasons.end()
                       ? known->second
                       : reasons.emplace_back(reason, std::vector<std::string>()).second;
    models.push_back(row.experiment.model);
  }
  if (reasons.empty()) return "";
  std::string text =
      absl::StrCat("\n", Paint(std::string(plan::ToString(outcome)), Tone::kStrong, style), "\n");
  for (const auto& [reason, models] : reasons) {
    const std::set<std::string> names(models.begin(), models.end());
    text += absl::StrCat("  ",
                         names.size() == 1 ? *names.begin() : absl::StrCat(names.size(), " models"),
                         " (", models.size(), "): ", Printable(reason), "\n");
  }
  return text;
}

std::string Notes(const std::vector<ResultRow>& rows, const std::vector<bool>& varies,
                  const TableStyle& style) {
  std::string text;
  for (const ResultRow& row : rows) {
    if (!row.result) continue;
    for (const std::string& note : row.result->notes) {
      text += absl::StrCat("  ", Printable(Subject(row, varies)), ": ", Printable(note), "\n");
    }
  }
  return text.empty() ? "" : absl::StrCat("\n", Paint("notes", Tone::kWarning, style), "\n", text);
}

// Geometric means over what was measured and whose accuracy is not known to be wrong, one line for
// each combination of words, with what was left out.
std::string Means(const std::vector<Pair>& pairs, const std::vector<bool>& varies) {
  struct Sum {
    double logs = 0;
    int64_t measured = 0, left_out = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Pair& pair : pairs) {
    if (pair.performance == nullptr || !pair.performance->result) continue;
    const plan::Result& result = *pair.performance->result;
    if (result.outcome == Outcome::kSkipped || result.outcome == Outcome::kCancelled) continue;
    std::string words;
    for (size_t d = 0; d < kDimensions.size(); ++d) {
      if (varies[d]) words += kDimensions[d].of(pair.performance->experiment) + " ";
    }
    Sum& sum = sums[words];
    const bool wrong = pair.accuracy != nullptr && pair.accuracy->result &&
                       pair.accuracy->result->outcome == Outcome::kFailed;
    if (result.outcome == Outcome::kPassed && !wrong && result.metrics.speedup.value_or(0) > 0) {
      sum.logs += std::log(*result.metrics.speedup);
      ++sum.measured;
    } else {
      ++sum.left_out;
    }
  }
  std::string text;
  for (const auto& [words, sum] : sums) {
    if (sum.measured < 2) continue;
    text +=
        absl::StrCat("geometric mean of speedups ", words, "over ", sum.measured,
                     " models: ", Times(std::exp(sum.logs / static_cast<double>(sum.measured))));
    if (sum.left_out > 0)
      text += absl::StrCat(" (", sum.left_out, " left out: failed, or numerically wrong)");
    text += "\n";
  }
  return text.empty() ? "" : "\n" + text;
}

std::string Legend(const std::vector<std::string>& left_out, bool performance,
                   const TableStyle& style) {
  std::string text;
  if (performance) {
    text +=
        "speedup: eager / compiled, medians.  ±: half the interquartile range.  pays after: calls "
        "until compiling has paid.  breaks: graph breaks.  memory: eager / compiled peak.\n";
  }
  if (!left_out.empty()) {
    std::string columns;
    for (const std::string& column : left_out) columns += (columns.empty() ? "" : ", ") + column;
    text += absl::StrCat("left out for width: ", columns, " (all of it: --json)\n");
  }
  std::string painted;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    painted += Paint(text.substr(begin, end - begin), Tone::kDim, style) + "\n";
    begin = end + 1;
  }
  return painted;
}

}  // namespace

std::string FailureText(const plan::Result& result) {
  const std::string outcome(plan::ToString(result.outcome));
  std::string text = result.status.empty() ? outcome : result.status;
  if (result.outcome == Outcome::kLost && text != outcome) text = outcome + " (" + text + ")";
  if (result.outcome == Outcome::kFailed) {
    text += absl::StrCat(" in ", std::string(plan::ToString(result.phase)), ", blame ",
                         std::string(plan::ToString(result.blame)));
  }
  return result.error.empty() ? text : text + ": " + result.error;
}

std::string CoverageLine(const store::Coverage& c) {
  std::string text = absl::StrCat(c.passed, " passed, ", c.failed, " failed");
  const std::array<std::pair<int64_t, const char*>, 5> others = {{{c.skipped, "skipped"},
                                                                  {c.lost, "lost"},
                                                                  {c.cancelled, "cancelled"},
                                                                  {c.running, "running"},
                                                                  {c.waiting, "waiting"}}};
  for (const auto& [count, word] : others) {
    if (count != 0) text += absl::StrCat(", ", count, " ", word);
  }
  return absl::StrCat(text, " of ", c.planned, " planned");
}

std::string ResultLine(const ResultRow& row, const TableStyle& style) {
  if (!row.result) return "";
  const plan::Result& result = *row.result;
  const plan::Metrics& m = result.metrics;
  std::string text = absl::StrCat(Printable(row.experiment.model), " ",
                                  std::string(plan::ToString(row.experiment.test)), ": ");
  if (result.outcome == Outcome::kSkipped || result.outcome == Outcome::kCancelled) {
    const std::string& reason =
        row.experiment.reason.empty() ? result.error : row.experiment.reason;
    text += std::string(plan::ToString(result.outcome));
    return reason.empty() ? text : text + ", " + Printable(reason);
  }
  if (result.outcome != Outcome::kPassed) {
    return text + Paint(Printable(FailureText(result)), Tone::kBad, style);
  }
  if (!m.speedup) return text + Paint(Printable(result.status), Tone::kGood, style);
  text += Paint(Times(*m.speedup), Tone::kGood, style);
  if (m.eager_latency_ms && m.abs_latency_ms) {
    text += absl::StrCat(" (eager ", Milliseconds(*m.eager_latency_ms), " ms");
    if (m.eager_spread) text += " ± " + Percent(*m.eager_spread / 2);
    text += absl::StrCat(", compiled ", Milliseconds(*m.abs_latency_ms), " ms");
    if (m.compiled_spread) text += " ± " + Percent(*m.compiled_spread / 2);
    text += ")";
  }
  if (m.compilation_latency_s) text += ", compiled in " + FormatSeconds(*m.compilation_latency_s);
  return text;
}

std::string ResultsTable(const store::JobRow& job, const std::vector<ResultRow>& all,
                         const TableStyle& style) {
  std::vector<ResultRow> rows;
  rows.reserve(all.size());
  for (const ResultRow& row : all) {
    if (!row.unneeded_round()) rows.push_back(row);
  }
  const std::vector<bool> varies = Varies(rows);
  const auto has = [&](Test test) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ResultRow& row) { return row.experiment.test == test; });
  };
  const Tests tests = {has(Test::kPerformance), has(Test::kAccuracy), has(Test::kTolerance),
                       has(Test::kBatchSize)};
  const std::vector<Pair> pairs = Pairs(rows);
  TextTable table(Columns(varies, tests));
  for (const Pair& pair : pairs) table.AddRow(CellsOf(pair, varies, tests));
  std::string text = Title(job, rows, varies, style);
  if (!rows.empty()) {
    std::vector<std::string> left_out;
    text += "\n" + table.Render(style, &left_out);
    text += Legend(left_out, tests.performance, style);
  }
  text += Failures(job, rows, varies, style);
  text += Reasons(rows, Outcome::kSkipped, style);
  text += Reasons(rows, Outcome::kCancelled, style);
  text += Notes(rows, varies, style);
  text += Means(pairs, varies);
  text += PairEndings(all);
  text += "\n" + CoverageLine(job.coverage);
  const auto unchecked = std::count_if(rows.begin(), rows.end(), [](const ResultRow& row) {
    return row.result && row.result->status == "pass_due_to_skip";
  });
  if (unchecked > 0) text += absl::StrCat(" (", unchecked, " passed as pass_due_to_skip)");
  return text + "\n";
}

}  // namespace dynbench::formats

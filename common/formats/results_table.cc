#include "common/formats/results_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/format_number.h"
#include "common/formats/pair_endings.h"
#include "common/formats/result_line.h"
#include "common/formats/results_sections.h"
#include "common/formats/results_words.h"

namespace dynbench::formats {
namespace {

using plan::Outcome;
using plan::Test;
using store::ResultRow;

// What is kept of a row.
struct Row {
  std::string model;
  size_t words = 0;  // their number
  int batch = 0;
  std::vector<Cell> cells;         // of its test
  std::optional<Outcome> outcome;  // none: no result yet
  double speedup = 0;              // 0: none was measured
};

// The tests of one model under the same words.
using Pair = std::array<Row*, 4>;  // by plan::Test

const Row& AnyOf(const Pair& pair) {
  return **std::find_if(pair.begin(), pair.end(), [](const Row* row) { return row != nullptr; });
}
Row*& Place(Pair& pair, Test test) { return pair[static_cast<size_t>(test)]; }
const Row* Find(const Pair& pair, Test test) { return pair[static_cast<size_t>(test)]; }

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

// Which tests the job has, so which columns its table; by plan::Test.
using Tests = std::array<bool, 4>;

bool Has(const Tests& tests, Test test) { return tests[static_cast<size_t>(test)]; }

std::vector<Column> Columns(const std::vector<bool>& varies, const Tests& tests) {
  std::vector<Column> columns = {{"model", Align::kLeft, 0}};
  for (size_t d = 0; d < varies.size(); ++d) {
    if (varies[d]) columns.push_back({ResultsWords::Titles()[d], Align::kLeft, 0});
  }
  columns.push_back({"batch", Align::kRight, 4});
  if (Has(tests, Test::kPerformance)) {
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
  if (Has(tests, Test::kAccuracy)) columns.push_back({"accuracy", Align::kLeft, 0});
  if (Has(tests, Test::kTolerance)) {
    columns.push_back({"tolerance", Align::kLeft, 0});
    columns.push_back({"max", Align::kRight, 0});
    columns.push_back({"mean", Align::kRight, 1});
    columns.push_back({"std", Align::kRight, 1});
  }
  if (Has(tests, Test::kBatchSize)) {
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

// The cells of a test's columns; `row` null: the model was not planned for it.
std::vector<Cell> TestCells(Test test, const ResultRow* row) {
  std::vector<Cell> cells;
  cells.reserve(9);
  switch (test) {
    case Test::kPerformance:
      AddPerformance(row, &cells);
      break;
    case Test::kAccuracy:
      cells.push_back(StatusCell(row));
      break;
    case Test::kTolerance:
      AddTolerance(row, &cells);
      break;
    case Test::kBatchSize:
      AddBatchSize(row, &cells);
      break;
  }
  return cells;
}

// Uses up the cells of the pair's rows.
std::vector<Cell> CellsOf(const Pair& pair, const ResultsWords& words,
                          const std::vector<bool>& varies, const Tests& tests) {
  const Row& any = AnyOf(pair);
  std::vector<Cell> cells;
  cells.reserve(20);
  cells.push_back({any.model, Tone::kPlain});
  for (size_t d = 0; d < varies.size(); ++d) {
    if (varies[d]) cells.push_back({words.words(any.words)[d], Tone::kPlain});
  }
  cells.push_back({any.batch > 0 ? std::to_string(any.batch) : "-", Tone::kPlain});
  for (size_t test = 0; test < tests.size(); ++test) {
    if (!tests[test]) continue;
    std::vector<Cell> own = pair[test] != nullptr ? std::move(pair[test]->cells)
                                                  : TestCells(static_cast<Test>(test), nullptr);
    for (Cell& cell : own) cells.push_back(std::move(cell));
  }
  return cells;
}

// `words`: of the first row; null: there is none.
std::string Title(const store::JobRow& job, const std::vector<std::string>* words,
                  const std::vector<bool>& varies, const TableStyle& style) {
  std::string text = Paint(absl::StrCat("job ", job.id.value), Tone::kStrong, style);
  if (words != nullptr) {
    for (size_t d = 0; d < words->size(); ++d) {
      const std::string& title = ResultsWords::Titles()[d];
      const std::string& word = (*words)[d];
      if (varies[d] || word.empty() || (title == "profile" && word == "default")) continue;
      // These two need their name beside them: "default" alone says nothing.
      const bool named = title == "environment" || title == "profile" || title == "configuration";
      text += "  " + (named ? title + " " : "") + Printable(word);
    }
  }
  if (!job.label.empty()) text += absl::StrCat("  (", Printable(job.label), ")");
  return text + "\n";
}

// Geometric means over what was measured and whose accuracy is not known to be wrong, one line for
// each combination of words, with what was left out.
std::string Means(const std::vector<Pair>& pairs, const ResultsWords& words,
                  const std::vector<bool>& varies) {
  struct Sum {
    double logs = 0;
    int64_t measured = 0, left_out = 0;
  };
  std::map<std::string, Sum> sums;
  std::map<size_t, Sum*> by_number;  // of words
  for (const Pair& pair : pairs) {
    const Row* performance = Find(pair, Test::kPerformance);
    if (performance == nullptr || !performance->outcome) continue;
    const Outcome outcome = *performance->outcome;
    if (outcome == Outcome::kSkipped || outcome == Outcome::kCancelled) continue;
    Sum*& sum = by_number[performance->words];
    if (sum == nullptr) {
      std::string text;
      for (size_t d = 0; d < varies.size(); ++d) {
        if (varies[d]) text += words.words(performance->words)[d] + " ";
      }
      sum = &sums[text];
    }
    const Row* accuracy = Find(pair, Test::kAccuracy);
    const bool wrong = accuracy != nullptr && accuracy->outcome == Outcome::kFailed;
    if (outcome == Outcome::kPassed && !wrong && performance->speedup > 0) {
      sum->logs += std::log(performance->speedup);
      ++sum->measured;
    } else {
      ++sum->left_out;
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

struct ResultsPage::State {
  ResultsWords words;
  std::deque<Row> rows;
  std::vector<Pair> pairs;  // in the order of the rows
  // The last pair of each model, by the number of its words. The names are those of `rows`.
  std::vector<std::unordered_map<std::string_view, size_t>> index;
  Tests tests = {};
  int64_t unchecked = 0;
  // Those that have more to say than the cells of their line; rounds that no decision needed.
  std::vector<ResultRow> told, unneeded;

  void AddToPairs(Row* row, Test test);
};

ResultsPage::ResultsPage() : state_(std::make_unique<State>()) {}
ResultsPage::~ResultsPage() = default;

// A row whose place is taken opens a pair of its own.
void ResultsPage::State::AddToPairs(Row* row, Test test) {
  if (index.size() <= row->words) index.resize(row->words + 1);
  auto& known = index[row->words];
  const auto found = known.find(row->model);
  if (found != known.end() && Place(pairs[found->second], test) == nullptr) {
    Place(pairs[found->second], test) = row;
    return;
  }
  known[row->model] = pairs.size();
  Place(pairs.emplace_back(Pair{}), test) = row;
}

void ResultsPage::Add(const ResultRow& row) {
  State& s = *state_;
  if (row.unneeded_round()) {
    s.unneeded.push_back(row);
    return;
  }
  Row& kept = s.rows.emplace_back();
  kept.model = row.experiment.model;
  kept.words = s.words.Of(row.experiment);
  kept.batch = row.experiment.batch_size;
  kept.cells = TestCells(row.experiment.test, &row);
  if (row.result) {
    const plan::Result& result = *row.result;
    if (result.batch_size > 0) kept.batch = result.batch_size;
    kept.outcome = result.outcome;
    kept.speedup = result.metrics.speedup.value_or(0);
    s.unchecked += result.status == "pass_due_to_skip" ? 1 : 0;
    if (result.outcome != Outcome::kPassed || !result.notes.empty()) s.told.push_back(row);
  }
  s.tests[static_cast<size_t>(row.experiment.test)] = true;
  s.AddToPairs(&kept, row.experiment.test);
}

std::string ResultsPage::Take(const store::JobRow& job, const TableStyle& style) {
  State& s = *state_;
  const std::vector<bool> varies = s.words.Varies();
  const bool empty = s.rows.empty();
  std::string text = Title(job, empty ? nullptr : &s.words.words(s.rows[0].words), varies, style);
  if (!empty) {
    TextTable table(Columns(varies, s.tests));
    for (const Pair& pair : s.pairs) table.AddRow(CellsOf(pair, s.words, varies, s.tests));
    std::vector<std::string> left_out;
    text += "\n" + table.Render(style, &left_out);
    text += Legend(left_out, Has(s.tests, Test::kPerformance), style);
  }
  text += Failures(job, s.told, varies, style);
  text += Reasons(s.told, Outcome::kSkipped, style);
  text += Reasons(s.told, Outcome::kCancelled, style);
  text += Notes(s.told, varies, style);
  text += Means(s.pairs, s.words, varies);
  text += PairEndings(s.unneeded);
  text += "\n" + CoverageLine(job.coverage);
  if (s.unchecked > 0) {
    text += absl::StrCat(" (", s.unchecked, " passed as pass_due_to_skip)");
  }
  return text + "\n";
}

std::string ResultsTable(const store::JobRow& job, const std::vector<ResultRow>& rows,
                         const TableStyle& style) {
  ResultsPage page;
  for (const ResultRow& row : rows) page.Add(row);
  return page.Take(job, style);
}

}  // namespace dynbench::formats

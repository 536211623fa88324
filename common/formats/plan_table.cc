#include "common/formats/plan_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/formats/format_number.h"
#include "common/plan/pairs.h"

namespace dynbench::formats {
namespace {

using plan::Experiment;

struct Field {
  const char* title;
  Align align;
  std::string (*of)(const Experiment&);
};
const std::array<Field, 12> kFields = {{
    {"suite", Align::kLeft, [](const Experiment& e) { return e.suite; }},
    {"model", Align::kLeft, [](const Experiment& e) { return e.model; }},
    {"mode", Align::kLeft, [](const Experiment& e) { return std::string(plan::ToString(e.mode)); }},
    {"test", Align::kLeft, [](const Experiment& e) { return std::string(plan::ToString(e.test)); }},
    {"configuration", Align::kLeft, [](const Experiment& e) { return e.configuration; }},
    {"precision", Align::kLeft,
     [](const Experiment& e) { return std::string(plan::ToString(e.precision)); }},
    {"device", Align::kLeft, [](const Experiment& e) { return e.device; }},
    {"environment", Align::kLeft, [](const Experiment& e) { return e.environment; }},
    {"start", Align::kLeft,
     [](const Experiment& e) { return std::string(plan::ToString(e.start)); }},
    {"batch", Align::kRight,
     [](const Experiment& e) {
       return e.batch_size > 0 ? std::to_string(e.batch_size) : std::string("file");
     }},
    {"partition", Align::kRight, [](const Experiment& e) { return std::to_string(e.partition); }},
    {"output", Align::kLeft, [](const Experiment& e) { return e.output; }},
}};

// Shown as columns whether they vary or not: what a person looks for in a plan.
bool IsAlwaysShown(std::string_view title) {
  return title == "model" || title == "test" || title == "batch";
}

bool Varies(const plan::Plan& plan, const Field& field) {
  return std::any_of(plan.experiments.begin(), plan.experiments.end(), [&](const Experiment& e) {
    return field.of(e) != field.of(plan.experiments.front());
  });
}

std::string Top(const plan::Plan& plan) {
  std::string text;
  for (const Field& field : kFields) {
    if (IsAlwaysShown(field.title) || Varies(plan, field)) continue;
    const std::string word = field.of(plan.experiments.front());
    if (word.empty() || (std::string_view(field.title) == "partition" && plan.partitions == 1)) {
      continue;
    }
    text += absl::StrCat(text.empty() ? "" : "  ", field.title, " ", Printable(word));
  }
  return text.empty() ? "" : text + "\n\n";
}

std::string Skips(const plan::Plan& plan) {
  std::map<std::string, int> reasons;
  for (const Experiment& e : plan.experiments) {
    if (e.planned_outcome == plan::Outcome::kSkipped) ++reasons[e.reason];
  }
  std::string text;
  for (const auto& [reason, count] : reasons) {
    text += absl::StrCat("skipped (", count, "): ", Printable(reason), "\n");
  }
  return text;
}

// Of a pair its first row, with both environments.
plan::Plan OneRowAPair(const plan::Plan& whole) {
  plan::Plan plan = whole;
  std::map<int, std::map<std::string, std::string>> environments;  // by pair and side
  for (const Experiment& e : whole.experiments) {
    if (e.pair > 0) environments[e.pair][e.side] = e.environment;
  }
  std::set<int> seen;
  std::erase_if(plan.experiments,
                [&](const Experiment& e) { return e.pair > 0 && !seen.insert(e.pair).second; });
  for (Experiment& e : plan.experiments) {
    if (e.pair == 0) continue;
    auto& sides = environments.at(e.pair);
    e.environment = absl::StrCat(sides[plan::kBaseSide], " → ", sides[plan::kNewSide]);
  }
  return plan;
}

}  // namespace

std::string PlanTable(const plan::Plan& whole, std::optional<double> expected_s,
                      const std::vector<std::string>& placements, const TableStyle& style,
                      std::optional<double> expected_p90_s) {
  const plan::Plan plan = OneRowAPair(whole);
  const bool pairs = plan.experiments.size() < whole.experiments.size();
  std::string text;
  size_t skipped = 0;
  if (!plan.experiments.empty()) {
    std::vector<const Field*> shown;
    std::vector<Column> columns;
    for (const Field& field : kFields) {
      if (!IsAlwaysShown(field.title) && !Varies(plan, field)) continue;
      shown.push_back(&field);
      columns.push_back({field.title, field.align, 0});
    }
    columns.push_back({"plan", Align::kLeft, 0});
    TextTable table(columns);
    for (const Experiment& e : plan.experiments) {
      const bool skip = e.planned_outcome == plan::Outcome::kSkipped;
      skipped += skip ? 1 : 0;
      std::vector<Cell> cells;
      for (const Field* field : shown) {
        cells.push_back({field->of(e), skip ? Tone::kDim : Tone::kPlain});
      }
      cells.push_back({skip ? "skip" : "run", skip ? Tone::kDim : Tone::kGood});
      table.AddRow(std::move(cells));
    }
    text += Top(plan) + table.Render(style) + "\n";
  }
  text += Skips(plan);
  for (const std::string& warning : plan.warnings) {
    text += absl::StrCat(Paint("warning:", Tone::kWarning, style), " ", Printable(warning), "\n");
  }
  for (const std::string& placement : placements) text += Printable(placement) + "\n";
  text += absl::StrCat(plan.experiments.size(),
                       pairs ? " pairs: " : " experiments: ", plan.experiments.size() - skipped,
                       " to run, ", skipped, " skipped");
  if (expected_s && *expected_s >= 0) {
    text +=
        absl::StrCat("; expected to take ", pairs ? "at least " : "", FormatSeconds(*expected_s));
    if (expected_p90_s && *expected_p90_s > *expected_s) {
      text += absl::StrCat(" (nine times in ten at most ", FormatSeconds(*expected_p90_s), ")");
    }
  }
  if (pairs) {
    text += absl::StrCat("; ", whole.experiments.size(),
                         " experiments in all, those of rounds that no decision needs are skipped");
  }
  return text + "\n";
}

}  // namespace dynbench::formats

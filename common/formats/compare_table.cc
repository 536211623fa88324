#include "common/formats/compare_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/formats/compare_sections.h"
#include "common/formats/format_number.h"
#include "common/judge/labels.h"

namespace dynbench::formats {
namespace {

using judge::Comparison;
using judge::Judgement;
using judge::Metric;
using judge::Verdict;

constexpr size_t kFindingsShown = 10;
constexpr size_t kModelsShown = 30;
constexpr size_t kLeftOutShown = 10;

std::string SummaryText(const judge::SummaryCell& cell) {
  if (!cell.base || !cell.fresh) return "-";
  const auto count = std::to_string(cell.count);
  switch (cell.table) {
    case judge::Table::kPassRate:
      return std::to_string(cell.base_passed) + "/" + count + ", " + Percent(*cell.base) + " → " +
             std::to_string(cell.fresh_passed) + "/" + count + ", " + Percent(*cell.fresh);
    case judge::Table::kCompileSeconds:
      return Fixed(*cell.base, 1) + " → " + Fixed(*cell.fresh, 1) + "  (N " + count + ")";
    case judge::Table::kSpeedup:
    case judge::Table::kCompression:
      break;
  }
  return Times(*cell.base) + " → " + Times(*cell.fresh) + "  (N " + count + ")";
}

// A table of the dashboard: configurations down, suites across.
Section SummarySection(const Comparison& comparison, judge::Table table) {
  std::vector<std::string> configurations, suites;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  std::set<std::string> left_out;
  const auto add = [](std::vector<std::string>* words, const std::string& word) {
    if (std::find(words->begin(), words->end(), word) == words->end()) words->push_back(word);
  };
  for (const judge::SummaryCell& cell : comparison.summary) {
    if (cell.table != table) continue;
    add(&configurations, cell.configuration);
    add(&suites, cell.suite);
    cells[{cell.configuration, cell.suite}] = SummaryText(cell);
    left_out.insert(cell.left_out.begin(), cell.left_out.end());
  }
  Section section;
  section.title = std::string(ToString(table));
  section.columns.push_back({"configuration", Align::kLeft, 0});
  for (const std::string& suite : suites) section.columns.push_back({suite, Align::kRight, 0});
  for (const std::string& configuration : configurations) {
    std::vector<Cell> row = {{configuration}};
    for (const std::string& suite : suites) {
      const auto found = cells.find({configuration, suite});
      row.push_back({found == cells.end() ? "" : found->second});
    }
    section.rows.push_back(std::move(row));
  }
  if (!left_out.empty()) {
    section.after.push_back("not in it: " + Listed(left_out, kLeftOutShown));
  }
  return section;
}

Tone ToneOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegressed:
      return Tone::kBad;
    case Verdict::kImproved:
      return Tone::kGood;
    case Verdict::kUnknown:
    case Verdict::kIncomparable:
      return Tone::kWarning;
    case Verdict::kSame:
      break;
  }
  return Tone::kDim;
}

Section FindingSection(const Comparison& comparison, judge::Level level, const CompareView& view) {
  Section section;
  section.title = level == judge::Level::kRed ? "regressions" : "also worth a look";
  section.columns = {{"model", Align::kLeft, 0},
                     {"what", Align::kLeft, 0},
                     {"base → new", Align::kLeft, 0},
                     {"change", Align::kRight, 0},
                     {"95 % interval", Align::kLeft, 2},
                     {"verdict", Align::kLeft, 0},
                     {"why", Align::kLeft, 1}};
  const judge::Labels labels(comparison.pairing);
  size_t count = 0;
  for (const judge::Finding& finding : comparison.findings) {
    if (finding.level != level) continue;
    if (++count > kFindingsShown && !view.all) continue;
    const Judgement& j = comparison.judgements[finding.judgement];
    const plan::Experiment& e = comparison.pairing.pairs[j.pair].experiment;
    std::string what = j.metric == Metric::kStatus ? std::string(plan::ToString(e.test))
                                                   : std::string(InfoOf(j.metric).title);
    section.rows.push_back({{labels.OfModel(e)},
                            {what},
                            {FromTo(j)},
                            {Change(j.change)},
                            {IntervalText(j)},
                            {std::string(ToString(j.verdict)), ToneOf(j.verdict)},
                            {j.reason}});
  }
  if (count > section.rows.size()) {
    section.after.push_back("and " + std::to_string(count - section.rows.size()) +
                            " more, smaller: --all");
  }
  return section;
}

struct ModelRow {
  const judge::Pair* pair = nullptr;
  std::map<Metric, const Judgement*> of;
};

std::vector<ModelRow> ModelRows(const Comparison& comparison) {
  std::vector<ModelRow> rows(comparison.pairing.pairs.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i].pair = &comparison.pairing.pairs[i];
  for (const Judgement& j : comparison.judgements) rows[j.pair].of[j.metric] = &j;
  std::erase_if(rows, [](const ModelRow& row) {
    return row.pair->experiment.test != plan::Test::kPerformance;
  });
  return rows;
}

Section ModelSection(const Comparison& comparison, const CompareView& view) {
  Section section;
  section.title = "models, base → new";
  section.columns = {{"model", Align::kLeft, 0},         {"configuration", Align::kLeft, 5},
                     {"eager ms", Align::kRight, 1},     {"compiled ms", Align::kRight, 0},
                     {"speedup", Align::kRight, 0},      {"compiled change", Align::kRight, 0},
                     {"95 % interval", Align::kLeft, 2}, {"needed", Align::kRight, 3},
                     {"runs", Align::kRight, 4},         {"compiled", Align::kLeft, 0},
                     {"moved", Align::kLeft, 6}};
  const judge::Labels labels(comparison.pairing);
  const std::vector<ModelRow> rows = ModelRows(comparison);
  const bool all = view.all || rows.size() <= kModelsShown;
  size_t hidden = 0;
  for (const ModelRow& row : rows) {
    const auto get = [&](Metric metric) -> const Judgement* {
      const auto found = row.of.find(metric);
      return found == row.of.end() ? nullptr : found->second;
    };
    const Judgement* compiled = get(Metric::kCompiledLatency);
    const Judgement* speedup = get(Metric::kSpeedup);
    const Judgement* eager = get(Metric::kEagerLatency);
    if (compiled == nullptr) continue;  // its status is a finding
    if (!all && compiled->verdict == Verdict::kSame) {
      ++hidden;
      continue;
    }
    section.rows.push_back({{row.pair->experiment.model},
                            {labels.OfConfiguration(row.pair->experiment)},
                            {eager == nullptr ? "-" : FromTo(*eager)},
                            {FromTo(*compiled)},
                            {speedup == nullptr ? "-" : FromTo(*speedup)},
                            {Change(compiled->change)},
                            {IntervalText(*compiled)},
                            {compiled->needed ? Percent(*compiled->needed) : "-"},
                            {std::to_string(compiled->base_processes) + "+" +
                             std::to_string(compiled->fresh_processes)},
                            {std::string(ToString(compiled->verdict)), ToneOf(compiled->verdict)},
                            {speedup == nullptr ? "" : std::string(ToString(speedup->moved))}});
  }
  if (hidden > 0) section.after.push_back(std::to_string(hidden) + " that are the same: --all");
  return section;
}

Section IncomparableSection(const Comparison& comparison) {
  Section section;
  section.title = "incomparable (not judged)";
  section.columns = {{"experiment", Align::kLeft, 0}, {"what differs", Align::kLeft, 0}};
  for (const judge::Pair& pair : comparison.pairing.pairs) {
    if (pair.comparable()) continue;
    std::string text;
    for (const auto& d : pair.differences) {
      if (d.blocks) text += (text.empty() ? "" : "; ") + ToString(d);
    }
    section.rows.push_back({{judge::SubjectOf(pair.experiment)}, {text, Tone::kWarning}});
  }
  if (comparison.options.rules.allow_incomparable) {
    section.title = "judged although these differ";
  }
  return section;
}

Section LeftOutSection(const Comparison& comparison, const CompareView& view) {
  Section section;
  section.title = "left out";
  section.columns = {
      {"reason", Align::kLeft, 0}, {"count", Align::kRight, 0}, {"experiments", Align::kLeft, 0}};
  std::map<std::string, std::set<std::string>> by_reason;
  std::map<std::string, size_t> counts;
  for (const judge::LeftOut& left_out : comparison.pairing.left_out) {
    by_reason[left_out.reason].insert(left_out.experiment.model);
    ++counts[left_out.reason];
  }
  for (const auto& [reason, models] : by_reason) {
    section.rows.push_back({{reason},
                            {std::to_string(counts[reason])},
                            {Listed(models, view.all ? models.size() : kLeftOutShown)}});
  }
  return section;
}

std::string Head(const Comparison& comparison) {
  std::string text = "base: " + comparison.base_name + "\nnew:  " + comparison.fresh_name + "\n";
  for (const auto& d : comparison.software) {
    if (d.field == "environment") continue;
    text += "  " + ToString(d) + "\n";
  }
  text += "in common: " + std::to_string(comparison.pairing.pairs.size()) +
          " experiments; left out " + std::to_string(comparison.pairing.left_out.size()) + "\n";
  for (const std::string& note : comparison.notes) text += "note: " + note + "\n";
  return text;
}

std::string Foot(const Comparison& comparison) {
  const judge::Rules& rules = comparison.options.rules;
  std::string text = "means are over models that passed on both sides.  runs: processes a side.  ";
  if (comparison.pair_job) text += "changes are of rounds, both sides measured together.  ";
  text += "needed: the change that would be told.\n";
  text += "told: more than " + Percent(rules.threshold) +
          ", certain at a false discovery rate of " + Percent(rules.false_discovery_rate) +
          " over the run\n";
  return text + "gate: " + std::string(ToString(comparison.gate)) + ": " + comparison.gate_reason +
         "\n";
}

}  // namespace

std::string CompareTable(const Comparison& comparison, const CompareView& view,
                         const TableStyle& style) {
  std::string text = Block(Head(comparison), view.markdown);
  if (comparison.gate == judge::Gate::kIncomparable) {
    return text + Render(IncomparableSection(comparison), view.markdown, style) +
           Render(LeftOutSection(comparison, view), view.markdown, style) +
           Block("gate: incomparable: " + comparison.gate_reason + "\n", view.markdown);
  }
  for (const judge::Table table : {judge::Table::kPassRate, judge::Table::kSpeedup,
                                   judge::Table::kCompileSeconds, judge::Table::kCompression}) {
    text += Render(SummarySection(comparison, table), view.markdown, style);
  }
  for (const Section& section :
       {FindingSection(comparison, judge::Level::kRed, view),
        FindingSection(comparison, judge::Level::kNotice, view), ModelSection(comparison, view),
        IncomparableSection(comparison), LeftOutSection(comparison, view)}) {
    text += Render(section, view.markdown, style);
  }
  return text + Block(Foot(comparison), view.markdown);
}

}  // namespace dynbench::formats

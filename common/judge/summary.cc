#include "common/judge/summary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "common/judge/labels.h"
#include "common/stats/geometric_mean.h"
#include "common/stats/stats.h"

namespace dynbench::judge {
namespace {

using Key = std::tuple<std::string, std::string>;  // configuration label, suite

// A model of a group: its pairs by test.
struct Model {
  std::string name;
  const Pair* performance = nullptr;
  const Pair* accuracy = nullptr;
};

bool Passed(const std::vector<const Process*>& processes) {
  return std::all_of(processes.begin(), processes.end(), [](const Process* p) {
    return p->row.result->outcome == plan::Outcome::kPassed;
  });
}

using Figure = std::function<std::optional<double>(const plan::Result&)>;

std::optional<double> MedianOver(const std::vector<const Process*>& processes,
                                 const Figure& figure) {
  std::vector<double> values;
  for (const Process* process : processes) {
    const auto value = figure(*process->row.result);
    if (value) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return stats::Median(values);
}

constexpr char kGivenUp[] = "a side takes its worker down";

// Why the model is in no mean; empty: it is.
std::string WhyLeftOut(const Model& model, bool allow_incomparable) {
  if (model.performance == nullptr) return "no performance test on both sides";
  if (!allow_incomparable && !model.performance->comparable()) return "incomparable";
  for (const Pair* pair : {model.performance, model.accuracy}) {
    if (pair == nullptr) continue;
    if (pair->killer != nullptr) return kGivenUp;
    const std::string test(plan::ToString(pair->experiment.test));
    if (!Passed(pair->base)) return test + " failed in base";
    if (!Passed(pair->fresh)) return test + " failed in new";
  }
  return "";
}

SummaryCell PassRate(const std::vector<Model>& models, bool allow_incomparable) {
  SummaryCell cell;
  const bool accuracy = std::any_of(models.begin(), models.end(),
                                    [](const Model& m) { return m.accuracy != nullptr; });
  for (const Model& model : models) {
    const Pair* pair = accuracy ? model.accuracy : model.performance;
    if (pair == nullptr || (!allow_incomparable && !pair->comparable())) {
      cell.left_out.push_back(model.name +
                              (pair == nullptr ? " (no accuracy test)" : " (incomparable)"));
      continue;
    }
    if (pair->killer != nullptr) {
      cell.left_out.push_back(model.name + " (" + kGivenUp + ")");
      continue;
    }
    ++cell.count;
    cell.base_passed += Passed(pair->base) ? 1 : 0;
    cell.fresh_passed += Passed(pair->fresh) ? 1 : 0;
  }
  if (cell.count == 0) return cell;
  cell.base = static_cast<double>(cell.base_passed) / static_cast<double>(cell.count);
  cell.fresh = static_cast<double>(cell.fresh_passed) / static_cast<double>(cell.count);
  return cell;
}

SummaryCell Mean(Table table, const std::vector<Model>& models, bool allow_incomparable,
                 const Figure& figure) {
  SummaryCell cell;
  cell.table = table;
  std::vector<double> base, fresh, ratios;
  for (const Model& model : models) {
    std::string why = WhyLeftOut(model, allow_incomparable);
    if (why.empty()) {
      const auto b = MedianOver(model.performance->base, figure);
      const auto f = MedianOver(model.performance->fresh, figure);
      const bool geometric = table == Table::kSpeedup;
      if (b && f && (!geometric || (*b > 0 && *f > 0))) {
        base.push_back(*b);
        fresh.push_back(*f);
        if (*b > 0 && *f > 0) ratios.push_back(*f / *b);
        continue;
      }
      why = "not measured";
    }
    cell.left_out.push_back(model.name + " (" + why + ")");
  }
  cell.count = base.size();
  if (base.empty()) return cell;
  const auto mean = [&](const std::vector<double>& values) {
    if (table == Table::kSpeedup) return stats::GeometricMeanOf(values).mean;
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  cell.base = mean(base);
  cell.fresh = mean(fresh);
  if (!ratios.empty()) {
    const auto ratio = stats::GeometricMeanOf(ratios);
    cell.ratio = ratio.mean;
    if (ratio.count > 1) cell.ratio_interval = ratio.interval;
  }
  return cell;
}

SummaryCell CellOf(Table table, const std::vector<Model>& models, bool allow_incomparable) {
  switch (table) {
    case Table::kPassRate:
      break;
    case Table::kSpeedup:
      return Mean(table, models, allow_incomparable,
                  [](const plan::Result& r) { return r.metrics.speedup; });
    case Table::kCompileSeconds:
      return Mean(table, models, allow_incomparable,
                  [](const plan::Result& r) { return r.metrics.compilation_latency_s; });
    case Table::kCompression:
      return Mean(table, models, allow_incomparable,
                  [](const plan::Result& r) { return r.metrics.compression_ratio; });
  }
  return PassRate(models, allow_incomparable);
}

}  // namespace

std::string_view ToString(Table table) {
  switch (table) {
    case Table::kPassRate:
      return "pass rate";
    case Table::kSpeedup:
      return "geometric mean speedup";
    case Table::kCompileSeconds:
      return "mean compile seconds";
    case Table::kCompression:
      return "mean compression";
  }
  return "";
}

std::vector<SummaryCell> Summarize(const Pairing& pairing, bool allow_incomparable) {
  const Labels labels(pairing);
  std::map<Key, std::vector<Model>> groups;
  for (const Pair& pair : pairing.pairs) {
    const plan::Experiment& e = pair.experiment;
    if (e.test != plan::Test::kPerformance && e.test != plan::Test::kAccuracy) continue;
    auto& models = groups[{labels.OfConfiguration(e), e.suite}];
    // Batch sizes differ between the tests, so they meet by name; a second series of one model (two
    // batch sizes of one configuration) is a model of its own.
    const auto slot = [&](Model& m) -> const Pair*& {
      return e.test == plan::Test::kPerformance ? m.performance : m.accuracy;
    };
    const auto found = std::find_if(models.begin(), models.end(), [&](Model& m) {
      return m.name == e.model && slot(m) == nullptr;
    });
    Model& model = found != models.end() ? *found : models.emplace_back(Model{e.model});
    slot(model) = &pair;
  }
  std::vector<SummaryCell> cells;
  for (const Table table :
       {Table::kPassRate, Table::kSpeedup, Table::kCompileSeconds, Table::kCompression}) {
    for (const auto& [key, models] : groups) {
      SummaryCell cell = CellOf(table, models, allow_incomparable);
      cell.configuration = std::get<0>(key);
      cell.suite = std::get<1>(key);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace dynbench::judge

#include "common/judge/durations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "common/plan/pairs.h"

namespace dynbench::judge {
namespace {

constexpr double kExplained = 0.8;
constexpr double kNsInSecond = 1e9;

double SecondsBetween(UnixTimeMs begin, UnixTimeMs end) {
  return begin.ms > 0 && end.ms > begin.ms ? static_cast<double>(end.ms - begin.ms) / 1000 : 0;
}

void Add(TimeParts* parts, const std::string& name, double seconds) {
  if (seconds != 0) (*parts)[name] += seconds;
}

// Of one series in one night: its rows together (several environments, rounds of a pair).
struct Spent {
  plan::Experiment experiment;
  double total_s = 0;
  TimeParts parts;
};

using BySeries = std::map<std::string, Spent>;

BySeries Group(const Night& night) {
  BySeries spent;
  for (const TimedRow& row : night) {
    if (row.total_s <= 0) continue;
    Spent& series = spent[plan::SeriesKey(row.experiment)];
    series.experiment = row.experiment;
    plan::LeavePair(&series.experiment);
    series.total_s += row.total_s;
    for (const auto& [part, seconds] : row.parts) Add(&series.parts, part, seconds);
  }
  return spent;
}

BySeries GroupAll(const std::vector<Night>& nights) {
  std::map<std::string, std::vector<Spent>> all;
  for (const Night& night : nights) {
    for (auto& [series, spent] : Group(night)) all[series].push_back(std::move(spent));
  }
  BySeries middle;
  for (auto& [series, times] : all) {
    std::stable_sort(times.begin(), times.end(),
                     [](const Spent& a, const Spent& b) { return a.total_s < b.total_s; });
    middle[series] = std::move(times[(times.size() - 1) / 2]);
  }
  return middle;
}

double Total(const BySeries& spent) {
  double total = 0;
  for (const auto& [series, one] : spent) total += one.total_s;
  return total;
}

// What only the first has, longest first.
std::vector<ExperimentTime> OnlyIn(const BySeries& one, const BySeries& other, bool fresh,
                                   double* total_s) {
  std::vector<ExperimentTime> only;
  for (const auto& [series, spent] : one) {
    if (other.contains(series)) continue;
    only.push_back({plan::DisplayName(spent.experiment), fresh ? 0 : spent.total_s,
                    fresh ? spent.total_s : 0});
    *total_s += spent.total_s;
  }
  std::stable_sort(only.begin(), only.end(), [](const ExperimentTime& a, const ExperimentTime& b) {
    return a.base_s + a.fresh_s > b.base_s + b.fresh_s;
  });
  return only;
}

void AddSeries(const Spent& base, const Spent& fresh, ModelTime* model) {
  model->base_s += base.total_s;
  model->fresh_s += fresh.total_s;
  for (const auto& [part, seconds] : fresh.parts) Add(&model->change, part, seconds);
  for (const auto& [part, seconds] : base.parts) Add(&model->change, part, -seconds);
  model->experiments.push_back({plan::DisplayName(fresh.experiment), base.total_s, fresh.total_s});
}

void Explain(Durations* durations) {
  const double direction = durations->common_s < 0 ? -1 : 1;
  std::stable_sort(durations->models.begin(), durations->models.end(),
                   [&](const ModelTime& a, const ModelTime& b) {
                     return direction * a.change_s() > direction * b.change_s();
                   });
  const double all = direction > 0 ? durations->grown_s : -durations->shrunk_s;
  double explained = 0;
  for (const ModelTime& model : durations->models) {
    if (explained >= kExplained * all || direction * model.change_s() <= 0) break;
    explained += direction * model.change_s();
    ++durations->explaining;
  }
}

}  // namespace

TimedRow TimeOf(const store::ResultRow& row, const std::vector<store::AttemptRow>& attempts) {
  TimedRow timed;
  timed.experiment = row.experiment;
  for (const store::AttemptRow& attempt : attempts) {
    if (attempt.id.lease == row.lease) continue;
    const double seconds = SecondsBetween(attempt.started_at, attempt.finished_at);
    Add(&timed.parts, "retries", seconds);
    timed.total_s += seconds;
  }
  if (!row.result) return timed;
  const double wall = SecondsBetween(row.started_at, row.finished_at);
  double explained = 0;
  for (const plan::PhaseSpan& span : row.result->phases) {
    const double seconds = static_cast<double>(span.duration_ns) / kNsInSecond;
    const double frozen = static_cast<double>(span.frozen_ns) / kNsInSecond;
    Add(&timed.parts, std::string(plan::ToString(span.phase)), seconds);
    Add(&timed.parts, "frozen", frozen);
    explained += seconds + frozen;
  }
  // Clocks of two kinds: what the phases say counts where they say more.
  Add(&timed.parts, "other", std::max(0.0, wall - explained));
  timed.total_s += std::max(wall, explained);
  return timed;
}

Durations CompareNights(const std::vector<Night>& base, const Night& fresh) {
  const BySeries before = GroupAll(base), after = Group(fresh);
  Durations durations;
  durations.base_s = Total(before);
  durations.fresh_s = Total(after);
  durations.added = OnlyIn(after, before, true, &durations.added_s);
  durations.removed = OnlyIn(before, after, false, &durations.removed_s);
  std::map<std::string, ModelTime> models;
  for (const auto& [series, spent] : after) {
    const auto found = before.find(series);
    if (found == before.end()) continue;
    const std::string name = spent.experiment.suite + "/" + spent.experiment.model;
    ModelTime& model = models[name];
    model.model = name;
    AddSeries(found->second, spent, &model);
  }
  for (auto& [name, model] : models) {
    const double change = model.change_s();
    durations.common_s += change;
    (change > 0 ? durations.grown_s : durations.shrunk_s) += change;
    std::stable_sort(model.experiments.begin(), model.experiments.end(),
                     [](const ExperimentTime& a, const ExperimentTime& b) {
                       return std::abs(a.fresh_s - a.base_s) > std::abs(b.fresh_s - b.base_s);
                     });
    durations.models.push_back(std::move(model));
  }
  Explain(&durations);
  return durations;
}

}  // namespace dynbench::judge

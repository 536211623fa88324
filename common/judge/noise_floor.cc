#include "common/judge/noise_floor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "common/stats/stats.h"

namespace dynbench::judge {
namespace {

std::string BuildOf(const Process& process) {
  const auto found = process.build.find("environment");
  return found == process.build.end() ? process.row.experiment.environment : found->second;
}

double SamplingVariance(std::optional<double> spread, int64_t pairs) {
  if (!spread || !std::isfinite(*spread)) return 0;
  // The range may reach down from the median: on the logarithm's scale that is more.
  const double range = std::max(*spread, -std::log1p(-std::min(*spread, 0.95)));
  const double sigma = range / 1.3489795003921634;
  return std::numbers::pi / 2 * sigma * sigma / static_cast<double>(std::max<int64_t>(1, pairs));
}

bool HasSamples(Metric metric) {
  return metric == Metric::kSpeedup || metric == Metric::kCompiledLatency ||
         metric == Metric::kEagerLatency;
}

}  // namespace

double SamplingVariance(Metric metric, const std::vector<const Process*>& processes) {
  if (!HasSamples(metric)) return 0;
  std::vector<double> variances;
  for (const Process* process : processes) {
    const plan::Metrics& m = process->row.result->metrics;
    const int64_t pairs = m.timed_pairs.value_or(process->row.experiment.repeat);
    double sum = 0;
    if (metric != Metric::kCompiledLatency) sum += SamplingVariance(m.eager_spread, pairs);
    if (metric != Metric::kEagerLatency) sum += SamplingVariance(m.compiled_spread, pairs);
    variances.push_back(sum);
  }
  return variances.empty() ? 0 : stats::Median(variances);
}

std::vector<double> LogsOf(Metric metric, const std::vector<const Process*>& processes,
                           bool disturbed_too) {
  std::vector<double> logs;
  for (const Process* process : processes) {
    if (!disturbed_too && Disturbed(metric, *process->row.result)) continue;
    const auto value = ValueOf(metric, *process->row.result);
    if (value) logs.push_back(std::log(*value));
  }
  return logs;
}

stats::Variance Pool(const std::vector<stats::Variance>& variances) {
  stats::Variance pooled;
  double squares = 0;
  for (const stats::Variance& v : variances) {
    squares += v.variance * v.degrees_of_freedom;
    pooled.degrees_of_freedom += v.degrees_of_freedom;
  }
  if (pooled.degrees_of_freedom > 0) pooled.variance = squares / pooled.degrees_of_freedom;
  return pooled;
}

std::vector<NoiseFloor> FloorsOf(const std::vector<Process>& processes) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<const Process*>>>
      groups;
  for (const Process& process : processes) {
    if (!process.row.result || process.row.result->outcome != plan::Outcome::kPassed) continue;
    groups[{plan::SeriesKey(process.row.experiment), process.row.worker_host}][BuildOf(process)]
        .push_back(&process);
  }
  std::vector<NoiseFloor> floors;
  for (const auto& [place, builds] : groups) {
    for (const MetricInfo& info : AllMetrics()) {
      std::vector<std::vector<double>> logs;
      std::vector<const Process*> all;
      NoiseFloor floor{place.first, place.second, info.metric, {}, 0, 0};
      for (const auto& [build, members] : builds) {
        logs.push_back(LogsOf(info.metric, members));
        floor.processes += static_cast<int>(logs.back().size());
        all.insert(all.end(), members.begin(), members.end());
      }
      floor.between = stats::PooledVariance(logs);
      if (floor.between.degrees_of_freedom <= 0) continue;
      floor.within = SamplingVariance(info.metric, all);
      floors.push_back(std::move(floor));
    }
  }
  return floors;
}

}  // namespace dynbench::judge

#include "worker/runner/precision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/stats/rank_interval.h"
#include "common/stats/stats.h"

namespace dynbench::runner {
namespace {

constexpr double kConfidence = 0.95;

}  // namespace

std::optional<double> RelativePrecision(const Samples& samples) {
  std::vector<double> ratios;
  const size_t pairs = std::min(samples.eager_ns.size(), samples.compiled_ns.size());
  for (size_t i = 0; i < pairs; ++i) {
    if (samples.compiled_ns[i] <= 0) continue;  // below the clock's grain
    ratios.push_back(static_cast<double>(samples.eager_ns[i]) /
                     static_cast<double>(samples.compiled_ns[i]));
  }
  if (ratios.empty()) return std::nullopt;
  const stats::RankInterval found = stats::MedianRankInterval(ratios, kConfidence);
  const double median = stats::Median(ratios);
  if (found.confidence < kConfidence || !(median > 0)) return std::nullopt;
  return (found.interval.high - found.interval.low) / 2 / median;
}

PrecisionDecision DecidePrecision(const PrecisionGoal& goal, std::optional<double> reached,
                                  int pairs, double spent_s, double pair_s) {
  if (goal.target <= 0 || (reached && *reached <= goal.target)) {
    return {PrecisionStep::kReached, 0};
  }
  const double left_s = goal.budget_s - spent_s;
  if (pairs >= kMostPairs || left_s <= 0 || left_s < pair_s) {
    return {PrecisionStep::kBudgetSpent, 0};
  }
  const int most = std::min(std::max(goal.pairs_a_block, 1), kMostPairs - pairs);
  const double room = pair_s > 0 ? std::floor(left_s / pair_s) : most;
  return {PrecisionStep::kGoOn, static_cast<int>(std::min<double>(room, most))};
}

void Append(const Samples& block, Samples* samples) {
  for (const auto readings : {&Samples::eager_ns, &Samples::compiled_ns, &Samples::eager_faults,
                              &Samples::compiled_faults}) {
    std::vector<int64_t>& all = samples->*readings;
    all.insert(all.end(), (block.*readings).begin(), (block.*readings).end());
  }
}

}  // namespace dynbench::runner

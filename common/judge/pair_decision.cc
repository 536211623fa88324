#include "common/judge/pair_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/judge/metrics.h"
#include "common/stats/sequential.h"
#include "common/stats/shift_evidence.h"

namespace dynbench::judge {
namespace {

// As in verdict.cc: medians have heavier tails than the prior's model.
constexpr double kPriorDegreesMax = 20;
constexpr size_t kPriorSeriesMin = 5;
// Two processes that each repeat themselves to a thousandth.
constexpr double kNoiseMin = 2 * 0.001 * 0.001;
// Three ways to see a change share alpha: two effects that are looked for, and any other size.
constexpr double kShareOfEffect = 0.6;
constexpr double kShareOfCoarse = 0.2;
constexpr double kShareOfAny = 0.2;
// A sequential test takes about half of a fixed plan's rounds (docs/statistics.md).
constexpr double kShareOfFixed = 0.5;

std::string Percent(double share) {
  const double percent = std::round(share * 1000) / 10;
  std::string text = std::to_string(percent);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

// What the statuses decide; kGoOn: nothing.
PairStep DecideStatus(const PairRules& rules, std::span<const RoundFigures> rounds, bool timed) {
  const RoundFigures& first = rounds.front();
  const bool alike = std::all_of(rounds.begin(), rounds.end(), [&](const RoundFigures& round) {
    return round.base_passed == first.base_passed && round.fresh_passed == first.fresh_passed;
  });
  if (!alike) {
    if (rounds.size() >= rules.rounds_min) {
      return {PairVerdict::kStatus, "a side passes in some rounds and fails in others", 0};
    }
    return {PairVerdict::kGoOn, "", static_cast<double>(rules.rounds_min - rounds.size())};
  }
  if (first.base_passed && first.fresh_passed) {
    if (timed) return {PairVerdict::kGoOn, "", 0};
    return {PairVerdict::kStatus, "both sides pass", 0};
  }
  if (!first.base_passed && !first.fresh_passed) {
    return {PairVerdict::kStatus, "both sides fail", 0};
  }
  if (rounds.size() < 2) return {PairVerdict::kGoOn, "", 1};
  return {PairVerdict::kStatus,
          first.base_passed ? "new fails, base passes" : "base fails, new passes", 0};
}

struct Test {
  stats::Decision decision = stats::Decision::kGoOn;
  double evidence = 0;
};

Test RunTest(const PairRules& rules, double effect, double share,
             const std::vector<double>& changes) {
  stats::SequentialPlan plan;
  plan.effect = std::log1p(effect);
  plan.alpha = rules.alpha * share;
  plan.beta = rules.beta;
  plan.noise = rules.noise;
  plan.rounds_min = rules.rounds_min;
  plan.rounds_max = std::numeric_limits<size_t>::max();
  stats::SequentialTest test(plan);
  for (const double change : changes) test.Add(change);
  return {test.decision(), test.evidence()};
}

bool SaysChanged(const Test& test) {
  return test.decision == stats::Decision::kHigher || test.decision == stats::Decision::kLower;
}

// Rounds that a test of `effect` takes in all at the noise that was seen so far.
double RoundsFor(const PairRules& rules, double effect, const std::vector<double>& changes) {
  const stats::Variance own = stats::PooledVariance(std::vector<std::vector<double>>{changes});
  const stats::Variance noise = stats::Moderate(own, rules.noise);
  return kShareOfFixed * stats::FixedRounds(std::log1p(effect),
                                            std::sqrt(std::max(noise.variance, kNoiseMin)),
                                            rules.alpha, rules.beta);
}

PairStep DecideTimed(const PairRules& rules, const std::vector<double>& changes) {
  const size_t n = changes.size();
  double mean = 0;
  for (const double change : changes) mean += change / static_cast<double>(n);
  const double fine_rounds = RoundsFor(rules, rules.effect, changes);
  const double left =
      std::clamp(fine_rounds - static_cast<double>(n), 1.0,
                 std::max(1.0, static_cast<double>(rules.rounds_max) - static_cast<double>(n)));
  if (n < rules.rounds_min) {
    return {PairVerdict::kGoOn, "", std::max(left, static_cast<double>(rules.rounds_min - n))};
  }
  const Test fine = RunTest(rules, rules.effect, kShareOfEffect, changes);
  const Test coarse = RunTest(rules, rules.coarse_effect, kShareOfCoarse, changes);
  const double any = stats::ShiftEvidence(changes, rules.noise);
  const bool certain =
      SaysChanged(fine) || SaysChanged(coarse) || any >= -std::log(rules.alpha * kShareOfAny);
  if (certain && std::abs(std::expm1(mean)) >= rules.threshold) {
    const std::string sign = mean > 0 ? "+" : "";
    return {PairVerdict::kChanged, "changed by " + sign + Percent(std::expm1(mean)), 0};
  }
  if (fine.decision == stats::Decision::kNoChange) {
    return {PairVerdict::kSame, "same: a change of " + Percent(rules.effect) + " would show", 0};
  }
  const bool hopeless = fine_rounds > static_cast<double>(rules.rounds_max);
  if (coarse.decision == stats::Decision::kNoChange && hopeless) {
    return {PairVerdict::kSame,
            "same: a change of " + Percent(rules.coarse_effect) +
                " would show; it is too noisy for less",
            0};
  }
  if (n >= rules.rounds_max) {
    return {PairVerdict::kUndecided, "not decided: too noisy for so few rounds", 0};
  }
  return {PairVerdict::kGoOn, "", std::min(left, static_cast<double>(rules.rounds_max - n))};
}

}  // namespace

PairRules RulesFor(size_t pairs, size_t rounds_min, size_t rounds_max,
                   double false_discovery_rate) {
  PairRules rules;
  rules.rounds_min = rounds_min;
  rules.rounds_max = rounds_max;
  const size_t tests = std::max<size_t>(pairs, 1) * (AllMetrics().size() - 1);  // but the status
  rules.alpha = false_discovery_rate / static_cast<double>(tests);
  return rules;
}

PairStep DecidePair(const PairRules& rules, std::span<const RoundFigures> rounds, bool timed) {
  if (rounds.empty()) {
    // Never less than of a pair that was begun: that one comes first.
    const double left =
        std::clamp(RoundsFor(rules, rules.effect, {}), static_cast<double>(rules.rounds_min),
                   static_cast<double>(rules.rounds_max));
    return {PairVerdict::kGoOn, "", timed ? left : 1};
  }
  PairStep status = DecideStatus(rules, rounds, timed);
  if (status.stop() || status.rounds_left > 0) return status;
  std::vector<double> changes;
  for (const RoundFigures& round : rounds) {
    if (round.change) changes.push_back(*round.change);
  }
  if (changes.empty() && rounds.size() >= rules.rounds_min) {
    return {PairVerdict::kStatus, "nothing was timed", 0};
  }
  return DecideTimed(rules, changes);
}

stats::VariancePrior NoiseOfPairs(std::span<const std::vector<double>> changes,
                                  const stats::VariancePrior& otherwise) {
  std::vector<stats::Variance> variances;
  for (const std::vector<double>& of_pair : changes) {
    if (of_pair.size() < 2) continue;
    variances.push_back(stats::PooledVariance(std::vector<std::vector<double>>{of_pair}));
  }
  stats::VariancePrior prior =
      stats::FitVariancePrior(variances, kPriorSeriesMin, kPriorDegreesMax);
  if (!(prior.degrees_of_freedom > otherwise.degrees_of_freedom)) return otherwise;
  prior.variance = std::max(prior.variance, kNoiseMin);
  return prior;
}

}  // namespace dynbench::judge

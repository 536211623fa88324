// Method: rounds drawn from normal noise (fixed seeds, printed) are handed to the decision one by
// one, as the coordinator does; rates and numbers of rounds are counted over thousands of pairs.
#include "common/judge/pair_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <vector>

#include "common/stats/random.h"
#include "common/stats/sequential.h"

namespace dynbench::judge {
namespace {

using stats::Generator;
using testing::HasSubstr;

constexpr bool kTimed = true;

RoundFigures Round(double change) { return {true, true, change}; }

std::vector<RoundFigures> Statuses(const std::vector<std::pair<bool, bool>>& rounds) {
  std::vector<RoundFigures> figures;
  for (const auto& [base, fresh] : rounds) figures.push_back({base, fresh, std::nullopt});
  return figures;
}

struct Counts {
  int changed = 0, same = 0, undecided = 0;
  double rounds = 0;          // on average
  double rounds_squared = 0;  // likewise

  // Standard error of `rounds`: a sanitizer leaves a tenth of the pairs.
  double RoundsError() const {
    return std::sqrt((rounds_squared - rounds * rounds) / (changed + same + undecided));
  }
};

// `sigma`: of a round's change.
Counts Simulate(const PairRules& rules, double change, double sigma, int pairs, uint64_t seed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  pairs /= 10;
#endif
  Generator generator(seed);
  Counts counts;
  for (int i = 0; i < pairs; ++i) {
    std::vector<RoundFigures> rounds;
    PairStep step;
    while (!step.stop()) {
      rounds.push_back(Round(std::log1p(change) + sigma * stats::Normal(generator)));
      step = DecidePair(rules, rounds, kTimed);
    }
    const auto taken = static_cast<double>(rounds.size());
    counts.rounds += taken / pairs;
    counts.rounds_squared += taken * taken / pairs;
    counts.changed += step.verdict == PairVerdict::kChanged ? 1 : 0;
    counts.same += step.verdict == PairVerdict::kSame ? 1 : 0;
    counts.undecided += step.verdict == PairVerdict::kUndecided ? 1 : 0;
  }
  std::cout << "seed " << seed << ", change " << change << ", noise " << sigma << ": "
            << counts.changed << " changed, " << counts.same << " same, " << counts.undecided
            << " undecided of " << pairs << ", " << counts.rounds << " rounds\n";
  return counts;
}

TEST(PairDecision, NothingIsDecidedBeforeTheLeastNumberOfRounds) {
  const PairRules rules;
  std::vector<RoundFigures> rounds;
  EXPECT_FALSE(DecidePair(rules, rounds, kTimed).stop());
  for (int i = 0; i < 2; ++i) rounds.push_back(Round(1));
  EXPECT_FALSE(DecidePair(rules, rounds, kTimed).stop());
  EXPECT_GE(DecidePair(rules, rounds, kTimed).rounds_left, 1);
}

TEST(PairDecision, AQuietPairIsDecidedInAHandfulOfRounds) {
  const PairRules rules = RulesFor(3, 3, 12);
  EXPECT_LE(Simulate(rules, 0, 0.003, 500, 1).rounds, 5);
  EXPECT_LE(Simulate(rules, 0.10, 0.005, 500, 2).rounds, 7);
}

TEST(PairDecision, AChangeOfTwoPercentIsFoundAtHalfAPercentOfNoise) {
  // Half a percent of each process: a round's change has two of them.
  const double sigma = 0.005 * std::sqrt(2.0);
  PairRules rules = RulesFor(3, 3, 12);
  const Counts alone = Simulate(rules, 0.02, sigma, 1000, 3);
  EXPECT_LE(alone.same, 10) << "a pair without others to learn from may stay undecided, not missed";
  rules.noise = {sigma * sigma, 20};  // as NoiseOfPairs learns it in a night
  const Counts learned = Simulate(rules, 0.02, sigma, 1000, 4);
  const int all = learned.changed + learned.same + learned.undecided;
  EXPECT_GE(learned.changed, 0.95 * all);
}

TEST(PairDecision, UnchangedPairsAreCalledChangedAtMostAsOftenAsStated) {
  const PairRules rules = RulesFor(1, 3, 12);  // alpha: one in 500
  for (const double sigma : {0.002, 0.007, 0.02, 0.06}) {
    const Counts counts = Simulate(rules, 0, sigma, 4000, 40);
    const int all = counts.changed + counts.same + counts.undecided;
    EXPECT_LE(counts.changed, all * rules.alpha + 3 * std::sqrt(all * rules.alpha)) << sigma;
  }
}

TEST(PairDecision, ANightTakesAtMostHalfOfTheRoundsOfAFixedPlanOfTheSamePower) {
  PairRules rules = RulesFor(1, 3, 1000);
  const double sigma = 0.03;
  rules.noise = {sigma * sigma, 20};  // as NoiseOfPairs learns it in a night
  const double fixed = stats::FixedRounds(std::log1p(rules.effect), sigma, rules.alpha, rules.beta);
  const double unchanged = Simulate(rules, 0, sigma, 1000, 60).rounds;
  const Counts hardest = Simulate(rules, 0.02, sigma, 1000, 61);
  const double least = hardest.rounds;
  const double larger = Simulate(rules, 0.04, sigma, 1000, 62).rounds;
  std::cout << "fixed plan: " << fixed << " rounds\n";
  EXPECT_LE(unchanged, 0.5 * fixed);
  EXPECT_LE(larger, 0.5 * fixed);
  EXPECT_LE(least, 0.62 * fixed + 2 * hardest.RoundsError()) << "the hardest change of all";
  // One model in ten changed.
  EXPECT_LE(0.9 * unchanged + 0.05 * least + 0.05 * larger, 0.5 * fixed);
}

TEST(PairDecision, ANoisyPairIsTheSameWithinTheResolutionOrUndecided) {
  const Counts counts = Simulate(RulesFor(1, 3, 12), 0, 0.03, 500, 7);
  EXPECT_GT(counts.same, 0);
  EXPECT_EQ(counts.changed, 0);
}

TEST(PairDecision, StatusesNeedNoStatistics) {
  const PairRules rules;
  const auto step = [&](const std::vector<std::pair<bool, bool>>& rounds, bool timed) {
    return DecidePair(rules, Statuses(rounds), timed);
  };
  EXPECT_THAT(step({{true, true}}, false).reason, HasSubstr("both sides pass"));
  EXPECT_THAT(step({{false, false}}, kTimed).reason, HasSubstr("both sides fail"));
  EXPECT_FALSE(step({{true, false}}, false).stop()) << "one failure may be chance";
  EXPECT_THAT(step({{true, false}, {true, false}}, false).reason, HasSubstr("new fails"));
  EXPECT_FALSE(step({{true, false}, {true, true}}, false).stop());
  EXPECT_THAT(step({{true, false}, {true, true}, {true, true}}, false).reason,
              HasSubstr("some rounds"));
}

TEST(PairDecision, TheNoiseIsLearnedFromTheOtherPairs) {
  const stats::VariancePrior before{4e-4, 0.5};
  std::vector<std::vector<double>> changes(4, {0.001, -0.001, 0.002});
  EXPECT_EQ(NoiseOfPairs(changes, before).degrees_of_freedom, 0.5);
  changes.resize(8, {0.001, -0.002, 0.001});
  const stats::VariancePrior after = NoiseOfPairs(changes, before);
  EXPECT_GT(after.degrees_of_freedom, 5);
  EXPECT_LT(after.variance, 1e-5);
}

}  // namespace
}  // namespace dynbench::judge

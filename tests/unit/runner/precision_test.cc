// Method: the stopping rule with times given by hand, and with drawn timings of a known spread run
// to its end (the seed is printed): what it promises of the ratio holds in 95 of 100 runs.
#include "worker/runner/precision.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

constexpr PrecisionGoal kOnePercent = {.target = 0.01, .budget_s = 30, .pairs_a_block = 30};

Samples Equal(int pairs, int64_t eager_ns, int64_t compiled_ns) {
  return {std::vector<int64_t>(pairs, eager_ns), std::vector<int64_t>(pairs, compiled_ns)};
}

TEST(Precision, IsHalfOfTheIntervalOfTheMedianRatio) {
  EXPECT_EQ(RelativePrecision(Equal(30, 2'000, 1'000)), 0);
  // Ten ratios 1.1 … 2.0: ranks 2 and 9 are 1.2 and 1.9, the median is 1.55.
  Samples samples;
  for (int i = 1; i <= 10; ++i) {
    samples.eager_ns.push_back(10'000 + i * 1'000);
    samples.compiled_ns.push_back(10'000);
  }
  EXPECT_NEAR(*RelativePrecision(samples), 0.35 / 1.55, 1e-12);
}

TEST(Precision, FewPairsHaveNone) {
  EXPECT_FALSE(RelativePrecision(Samples()));
  EXPECT_FALSE(RelativePrecision(Equal(5, 2'000, 1'000)));
  EXPECT_TRUE(RelativePrecision(Equal(6, 2'000, 1'000)));
  EXPECT_FALSE(RelativePrecision(Equal(30, 2'000, 0))) << "below the clock's grain";
}

TEST(Precision, WithoutATargetNothingIsAdded) {
  EXPECT_EQ(DecidePrecision({}, 0.5, 30, 0, 0.1).step, PrecisionStep::kReached);
  EXPECT_EQ(DecidePrecision({}, std::nullopt, 3, 0, 0.1).step, PrecisionStep::kReached);
}

TEST(Precision, OnUntilTheTargetIsMet) {
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.01, 30, 0, 0.01).step, PrecisionStep::kReached);
  const PrecisionDecision on = DecidePrecision(kOnePercent, 0.011, 30, 0, 0.01);
  EXPECT_EQ(on.step, PrecisionStep::kGoOn);
  EXPECT_EQ(on.pairs, 30);
  EXPECT_EQ(DecidePrecision(kOnePercent, std::nullopt, 3, 0, 0.01).step, PrecisionStep::kGoOn);
}

TEST(Precision, TheBudgetBoundsTheWindow) {
  // 8 s a pair: three fit into what is left of 30 s after 5 s, and no part of a fourth.
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, 30, 5, 8).pairs, 3);
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, 30, 22.5, 8).step, PrecisionStep::kBudgetSpent);
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, 30, 30, 0).step, PrecisionStep::kBudgetSpent);
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, 30, 0, 31).step, PrecisionStep::kBudgetSpent);
}

TEST(Precision, ARowHoldsSoManyPairs) {
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, kMostPairs - 7, 0, 1e-6).pairs, 7);
  EXPECT_EQ(DecidePrecision(kOnePercent, 0.2, kMostPairs, 0, 1e-6).step,
            PrecisionStep::kBudgetSpent);
}

TEST(Precision, WhatIsReachedHolds) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 generator(seed);
  std::lognormal_distribution<double> noise(0, 0.03);
  constexpr double kRatio = 1.7;
  constexpr int kRuns = 400;
  int held = 0, reached = 0;
  for (int run = 0; run < kRuns; ++run) {
    Samples samples;
    PrecisionDecision decision{PrecisionStep::kGoOn, 30};
    while (decision.step == PrecisionStep::kGoOn) {
      Samples block;
      for (int i = 0; i < decision.pairs; ++i) {
        block.eager_ns.push_back(std::llround(kRatio * 1e6 * noise(generator)));
        block.compiled_ns.push_back(std::llround(1e6 * noise(generator)));
      }
      Append(block, &samples);
      const int pairs = static_cast<int>(samples.eager_ns.size());
      decision = DecidePrecision(kOnePercent, RelativePrecision(samples), pairs, 0, 1e-6);
    }
    reached += decision.step == PrecisionStep::kReached ? 1 : 0;
    std::vector<double> ratios;
    for (size_t i = 0; i < samples.eager_ns.size(); ++i) {
      ratios.push_back(static_cast<double>(samples.eager_ns[i]) /
                       static_cast<double>(samples.compiled_ns[i]));
    }
    std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
    held += std::abs(ratios[ratios.size() / 2] / kRatio - 1) <= 0.01 ? 1 : 0;
  }
  EXPECT_EQ(reached, kRuns);
  // 95 % less five standard deviations of 400 runs, and less what looking often costs.
  EXPECT_GE(held, kRuns * 0.88);
}

}  // namespace
}  // namespace dynbench::runner

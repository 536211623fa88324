// Method: thousands of seeded series of rounds, with no shift, with the effect and with twice the
// effect: the error rates must be as stated, and the rounds on average at most half of what a plan
// of a fixed size needs for the same rates. Also with a noise that is not known exactly.
#include "common/stats/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <stdexcept>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Rates {
  double higher = 0, lower = 0, no_change = 0, undecided = 0, rounds = 0;
};

// `sigma`: of a round's value; drawn anew for each series around it when the prior is finite.
Rates Simulate(const SequentialPlan& plan, double shift, double sigma, int runs, uint64_t seed,
               bool draw_sigma = false) {
  Generator generator(seed);
  Rates rates;
  for (int run = 0; run < runs; ++run) {
    double s = sigma;
    if (draw_sigma) {
      double chi = 0;
      const int degrees = static_cast<int>(plan.noise.degrees_of_freedom);
      for (int i = 0; i < degrees; ++i) chi += std::pow(Normal(generator), 2);
      s = std::sqrt(degrees * plan.noise.variance / chi);
    }
    SequentialTest test(plan);
    while (test.decision() == Decision::kGoOn) test.Add(shift + s * Normal(generator));
    rates.rounds += static_cast<double>(test.rounds()) / runs;
    const double share = 1.0 / runs;
    if (test.decision() == Decision::kHigher) rates.higher += share;
    if (test.decision() == Decision::kLower) rates.lower += share;
    if (test.decision() == Decision::kNoChange) rates.no_change += share;
    if (test.decision() == Decision::kUndecided) rates.undecided += share;
  }
  return rates;
}

SequentialPlan Plan(double sigma, double degrees) {
  SequentialPlan plan;
  plan.effect = 0.02;
  plan.noise = {sigma * sigma, degrees};
  plan.rounds_max = 1000;
  return plan;
}

TEST(Sequential, ErrorRatesAndHalfTheRoundsOfAFixedPlan) {
  const double sigma = 0.04;  // 112 rounds of a fixed plan
  const SequentialPlan plan = Plan(sigma, kInfinite);
  const double fixed = FixedRounds(plan.effect, sigma, plan.alpha, plan.beta);
  EXPECT_NEAR(fixed, 112.1, 0.1);
  constexpr int kRuns = 4000;
  const Rates none = Simulate(plan, 0, sigma, kRuns, 1);
  EXPECT_LE(none.higher + none.lower, 0.005) << "stated: 0.003";
  EXPECT_LE(none.rounds, fixed / 2);
  const Rates effect = Simulate(plan, 0.02, sigma, kRuns, 2);
  EXPECT_GE(effect.higher, 0.987) << "stated: 0.99";
  EXPECT_LE(effect.rounds, fixed / 2);
  const Rates lower = Simulate(plan, -0.02, sigma, kRuns, 3);
  EXPECT_GE(lower.lower, 0.987);
  const Rates twice = Simulate(plan, 0.04, sigma, kRuns, 4);
  EXPECT_LE(twice.rounds, fixed / 5);
  std::cout << "rounds: fixed " << fixed << ", no change " << none.rounds << ", effect "
            << effect.rounds << ", twice " << twice.rounds << "; false alarms "
            << none.higher + none.lower << ", missed " << 1 - effect.higher << "\n";
}

TEST(Sequential, NoiseThatIsKnownOnlyRoughly) {
  const SequentialPlan plan = Plan(0.04, 10);
  const Rates none = Simulate(plan, 0, 0.04, 3000, 5, /*draw_sigma=*/true);
  EXPECT_LE(none.higher + none.lower, 0.006);
  const Rates effect = Simulate(plan, 0.02, 0.04, 3000, 6, /*draw_sigma=*/true);
  EXPECT_GE(effect.higher, 0.986);
  // Half as much noise again as the prior says costs rounds, not the error rate by much.
  const Rates noisy = Simulate(plan, 0, 0.06, 3000, 7);
  EXPECT_LE(noisy.higher + noisy.lower, 0.015);
}

TEST(Sequential, StopsAtItsLimitsAndStaysDecided) {
  SequentialPlan plan = Plan(0.04, kInfinite);
  plan.rounds_max = 4;
  SequentialTest undecided(plan);
  for (int i = 0; i < 4; ++i) undecided.Add(0.01);
  EXPECT_EQ(undecided.decision(), Decision::kUndecided);
  SequentialTest certain(Plan(0.004, kInfinite));
  EXPECT_EQ(certain.Add(0.02), Decision::kGoOn) << "three rounds at least";
  certain.Add(0.021);
  EXPECT_EQ(certain.Add(0.019), Decision::kHigher);
  EXPECT_EQ(certain.Add(-5), Decision::kHigher);
  EXPECT_EQ(certain.rounds(), 3U);
}

TEST(Sequential, BrokenPreconditionsAreRefused) {
  SequentialPlan plan = Plan(0.04, 0);
  EXPECT_THROW(SequentialTest{plan}, std::invalid_argument) << "nothing is known of the noise";
  plan = Plan(0.04, 5);
  plan.effect = 0;
  EXPECT_THROW(SequentialTest{plan}, std::invalid_argument);
  plan = Plan(0.04, 5);
  plan.rounds_min = 0;
  EXPECT_THROW(SequentialTest{plan}, std::invalid_argument);
  SequentialTest test(Plan(0.04, 5));
  EXPECT_THROW(test.Add(std::nan("")), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

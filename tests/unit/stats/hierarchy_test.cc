// Method: sums by hand, a prior that was put in must be found again, and two rates over many seeded
// series: of false alarms, and of thirty samples a process taken as thirty measurements, which is
// the mistake that this file exists to avoid.
#include "common/stats/hierarchy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "common/stats/random.h"
#include "common/stats/rank_test.h"
#include "common/stats/stats.h"
#include "common/stats/welch.h"

namespace dynbench::stats {
namespace {

using Values = std::vector<double>;
using Groups = std::vector<Values>;

TEST(Hierarchy, PooledVarianceByHand) {
  const Variance pooled = PooledVariance(Groups{{1, 3}, {10, 12, 14}, {99}});
  EXPECT_DOUBLE_EQ(pooled.degrees_of_freedom, 3);
  EXPECT_DOUBLE_EQ(pooled.variance, (2.0 + 8.0) / 3);
  EXPECT_EQ(PooledVariance(Groups{{1}, {2}}), (Variance{0, 0}));
}

// The sum of `degrees` squares of normal numbers.
double ChiSquared(Generator& generator, int degrees) {
  double sum = 0;
  for (int i = 0; i < degrees; ++i) {
    const double x = Normal(generator);
    sum += x * x;
  }
  return sum;
}

TEST(Hierarchy, FindsThePriorThatWasPutIn) {
  Generator generator(2004);
  constexpr double kVariance = 4e-4;
  constexpr int kPriorDegrees = 8, kOwn = 4;
  std::vector<Variance> variances;
  for (int series = 0; series < 4000; ++series) {
    const double truth = kPriorDegrees * kVariance / ChiSquared(generator, kPriorDegrees);
    variances.push_back({truth * ChiSquared(generator, kOwn) / kOwn, kOwn});
  }
  const VariancePrior prior = FitVariancePrior(variances);
  EXPECT_NEAR(prior.variance / kVariance, 1, 0.1);
  EXPECT_NEAR(prior.degrees_of_freedom, kPriorDegrees, 2);
  EXPECT_LE(FitVariancePrior(variances, 5, 3).degrees_of_freedom, 3);
}

TEST(Hierarchy, EqualVariancesGiveAnInfinitePriorAndFewNone) {
  Generator generator(12);
  std::vector<Variance> variances;
  for (int series = 0; series < 6; ++series) variances.push_back({1e-4, 4});
  EXPECT_TRUE(std::isinf(FitVariancePrior(variances).degrees_of_freedom));
  variances.resize(4);
  EXPECT_EQ(FitVariancePrior(variances).degrees_of_freedom, 0);
  const Variance own{4e-4, 2};
  EXPECT_EQ(Moderate(own, {}), own);
  EXPECT_EQ(Moderate(own, {1e-4, 4}), (Variance{(2 * 4e-4 + 4 * 1e-4) / 6, 6}));
}

TEST(Hierarchy, MedianVarianceIsThatOfMedians) {
  Generator generator(31);
  Values medians;
  double stated = 0;
  for (int run = 0; run < 2000; ++run) {
    Values samples;
    for (int i = 0; i < 30; ++i) samples.push_back(std::exp(0.05 * Normal(generator)));
    medians.push_back(std::log(Median(samples)));
    stated += MedianVariance(samples) / 2000;
  }
  const double seen = PooledVariance(Groups{medians}).variance;
  EXPECT_NEAR(stated / seen, 1, 0.15);
}

TEST(Hierarchy, ProcessesAreTheUnitAndSamplesAreNot) {
  Generator generator(13);
  int by_process = 0, by_sample = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    Groups medians(2), samples(2);
    for (int side = 0; side < 2; ++side) {
      for (int process = 0; process < 3; ++process) {
        const double bias = 0.02 * Normal(generator);
        Values one;
        for (int i = 0; i < 30; ++i) one.push_back(bias + 0.005 * Normal(generator));
        medians[side].push_back(Median(one));
        samples[side].insert(samples[side].end(), one.begin(), one.end());
      }
    }
    const Shift shift = CompareProcesses(medians[0], medians[1], PooledVariance(medians));
    by_process += shift.p < 0.05 ? 1 : 0;
    by_sample += MannWhitney(samples[0], samples[1]).p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(by_process, 0.05 * kRuns, 15);
  EXPECT_GT(by_sample, 0.5 * kRuns) << "identical sides that samples call different";
}

TEST(Hierarchy, OneProcessASideWithAKnownNoise) {
  const Shift shift = CompareProcesses(Values{0}, Values{0.1}, {1e-4, 10});
  EXPECT_NEAR(shift.standard_error, std::sqrt(2e-4), 1e-12);
  EXPECT_NEAR(shift.p, TwoSidedP(0.1 / std::sqrt(2e-4), 10), 1e-15);
}

TEST(Hierarchy, OverHostsOnlyWhatDiffersWithinThemCounts) {
  // The second host is ten higher and has most of new; the third has no base.
  const std::vector<Stratum> hosts = {{{0, 0, 0, 0}, {1}}, {{10}, {12, 12}}, {{}, {99}}};
  const Shift shift = CompareStrata(hosts, {0.5, 10});
  const double first = 4.0 / 5, second = 2.0 / 3;
  EXPECT_DOUBLE_EQ(shift.difference, (first * 1 + second * 2) / (first + second));
  EXPECT_DOUBLE_EQ(shift.standard_error, std::sqrt(0.5 / (first + second)));
  EXPECT_DOUBLE_EQ(shift.p, TwoSidedP(shift.difference / shift.standard_error, 10));
  const std::vector<Stratum> one = {{{0, 1, 2}, {3, 5}}};
  const Shift of_one = CompareStrata(one, {0.5, 3});
  EXPECT_DOUBLE_EQ(of_one.difference, 3);
  EXPECT_DOUBLE_EQ(of_one.standard_error, std::sqrt(0.5 * (1.0 / 3 + 1.0 / 2)));
  EXPECT_THROW(CompareStrata(std::vector<Stratum>{{{1}, {}}, {{}, {1}}}, {1, 1}),
               std::invalid_argument);
}

TEST(Hierarchy, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(CompareProcesses(Values{}, Values{1}, {1, 1}), std::invalid_argument);
  EXPECT_THROW(CompareProcesses(Values{1}, Values{1}, {1, 0}), std::invalid_argument);
  EXPECT_THROW(PooledVariance(Groups{{1, std::nan("")}}), std::invalid_argument);
  EXPECT_THROW(MedianVariance(Values{1, -1}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

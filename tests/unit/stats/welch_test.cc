// Method: an example worked out by hand, quantiles of published t tables, and the rate of false
// alarms with unequal variances.
#include "common/stats/welch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

using Values = std::vector<double>;

TEST(Welch, ExampleByHand) {
  // Means 2 and 6, variances 1 and 4: error sqrt(1/3 + 4/3), t = 4 / 1.29099.
  const TTest test = Welch(Values{1, 2, 3}, Values{4, 6, 8});
  EXPECT_DOUBLE_EQ(test.difference, 4);
  EXPECT_NEAR(test.standard_error, 1.2909944, 1e-6);
  EXPECT_NEAR(test.t, 3.0983867, 1e-6);
  EXPECT_NEAR(test.degrees_of_freedom, (25.0 / 9) / (1.0 / 18 + 16.0 / 18), 1e-9);
  EXPECT_LT(test.interval.low, 4);
  EXPECT_GT(test.p, 0.04);
  EXPECT_LT(test.p, 0.07);
}

TEST(Welch, QuantilesOfTheTables) {
  EXPECT_NEAR(TwoSidedT(0.05, 4), 2.776, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.01, 10), 3.169, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.05, std::numeric_limits<double>::infinity()), 1.95996, 1e-5);
  EXPECT_NEAR(TwoSidedP(TwoSidedT(1e-6, 7), 7), 1e-6, 1e-12);
  EXPECT_EQ(TwoSidedP(std::numeric_limits<double>::infinity(), 3), 0);
}

TEST(Welch, SidesWithoutSpread) {
  EXPECT_EQ(Welch(Values{1, 1}, Values{1, 1}).p, 1);
  EXPECT_EQ(Welch(Values{1, 1}, Values{2, 2}).p, 0);
}

TEST(Welch, FalseAlarmsWithUnequalVariances) {
  Generator generator(1946);
  int alarms = 0;
  for (int run = 0; run < 4000; ++run) {
    Values base, fresh;
    for (int i = 0; i < 5; ++i) base.push_back(Normal(generator));
    for (int i = 0; i < 10; ++i) fresh.push_back(5 * Normal(generator));
    alarms += Welch(base, fresh).p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(alarms, 200, 60) << "of 4000";
}

TEST(Welch, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(Welch(Values{1}, Values{1, 2}), std::invalid_argument);
  EXPECT_THROW(Welch(Values{1, std::nan("")}, Values{1, 2}), std::invalid_argument);
  EXPECT_THROW(Welch(Values{1, 2}, Values{1, 2}, 1), std::invalid_argument);
  EXPECT_THROW(Logs(Values{1, 0}), std::invalid_argument);
  EXPECT_THROW(TwoSidedT(0, 3), std::invalid_argument);
  EXPECT_THROW(TwoSidedP(1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

// Method: exact p values from the tables of Mann and Whitney, the exact against the approximate one
// where both apply, ties by hand, and uniform p values when nothing differs.
#include "common/stats/rank_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

using Values = std::vector<double>;

TEST(MannWhitney, ExactForFewValues) {
  const RankTest apart = MannWhitney(Values{1, 2, 3}, Values{4, 5, 6});
  EXPECT_TRUE(apart.exact);
  EXPECT_EQ(apart.u, 9);
  EXPECT_EQ(apart.superiority, 1);
  EXPECT_NEAR(apart.p, 2.0 / 20, 1e-12);
  EXPECT_NEAR(MannWhitney(Values{1, 2, 4}, Values{3, 5, 6}).p, 4.0 / 20, 1e-12);
  EXPECT_NEAR(MannWhitney(Values{6, 7, 8, 9, 10}, Values{1, 2, 3, 4, 5}).p, 2.0 / 252, 1e-12);
  // U = 2 of sides of 4 and 5: 4 of the 126 arrangements are as low.
  EXPECT_NEAR(MannWhitney(Values{1, 2, 3, 6}, Values{4, 5, 7, 8, 9}).p, 2 * 4.0 / 126, 1e-12);
  EXPECT_EQ(MannWhitney(Values{1, 4}, Values{2, 3}).p, 1);
}

TEST(MannWhitney, TiesByHand) {
  // U = 2.5 of 16; variance 16 / 12 (9 - 36 / 56) = 11.143; z = (8 - 2.5 - 0.5) / 3.3381.
  const RankTest test = MannWhitney(Values{1, 1, 2, 3}, Values{2, 3, 3, 4});
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.u, 13.5);
  EXPECT_NEAR(test.p, std::erfc(1.49786 / std::sqrt(2.0)), 1e-4);
  EXPECT_EQ(MannWhitney(Values{5, 5, 5}, Values{5, 5}).p, 1);
}

TEST(MannWhitney, ApproximationAgreesWithTheExactTest) {
  Generator generator(1947);
  Values base, fresh;
  for (int i = 0; i < 20; ++i) {
    base.push_back(Normal(generator));
    fresh.push_back(Normal(generator) + 0.8);
  }
  const RankTest exact = MannWhitney(base, fresh);
  ASSERT_TRUE(exact.exact);
  base.push_back(100);  // 21 x 20 is above the limit; two values that cancel
  fresh.push_back(-100);
  base.push_back(-101);
  fresh.push_back(101);
  const RankTest approximate = MannWhitney(base, fresh);
  ASSERT_FALSE(approximate.exact);
  EXPECT_NEAR(std::log(approximate.p), std::log(exact.p), 1.0);
}

TEST(MannWhitney, FalseAlarmsAreAsOftenAsStated) {
  Generator generator(18);
  int alarms = 0;
  for (int run = 0; run < 2000; ++run) {
    Values base, fresh;
    for (int i = 0; i < 6; ++i) {
      base.push_back(std::exp(2 * Normal(generator)));
      fresh.push_back(std::exp(2 * Normal(generator)));
    }
    alarms += MannWhitney(base, fresh).p <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(alarms, 120);
  EXPECT_GE(alarms, 50) << "of 2000 at 4.1 %, the nearest exact level";
}

TEST(MannWhitney, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(MannWhitney(Values{}, Values{1}), std::invalid_argument);
  EXPECT_THROW(MannWhitney(Values{1}, Values{std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

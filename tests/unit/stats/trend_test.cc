// Method: slopes and statistics by hand, samples that throttle by 15 % (a user's report), and the
// rate of false alarms on samples that only scatter.
#include "common/stats/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

using Samples = std::vector<double>;

TEST(Trend, ValuesByHand) {
  EXPECT_DOUBLE_EQ(TheilSenSlope(Samples{1, 3, 5, 700}), (2 + 233) / 2.0)
      << "of 2, 2, 2, 233, 348.5, 695";
  EXPECT_DOUBLE_EQ(TheilSenSlope(Samples{5, 4, 3, 2}), -1);
  const TrendTest rising = MannKendall(Samples{1, 2, 3, 4, 5});
  EXPECT_EQ(rising.s, 10);
  EXPECT_EQ(rising.tau, 1);
  // z = 9 / sqrt(5 * 4 * 15 / 18)
  EXPECT_NEAR(rising.p, std::erfc(9 / std::sqrt(300.0 / 18) / std::sqrt(2.0)), 1e-12);
  EXPECT_EQ(MannKendall(Samples{2, 2, 2}).p, 1);
}

TEST(Trend, ThrottlingIsADrift) {
  Generator generator(2899);
  Samples throttled, wild;
  for (int i = 0; i < 30; ++i) {
    throttled.push_back(10 * (1 + 0.15 * i / 29) * (1 + 0.01 * Normal(generator)));
    wild.push_back(10 * (1 + 0.01 * Normal(generator)));
  }
  wild[29] = 1000;  // one outlier at the end is no drift
  const Drift drift = DriftOf(throttled);
  EXPECT_TRUE(drift.drifting);
  EXPECT_NEAR(drift.change, 0.15, 0.03);
  EXPECT_FALSE(DriftOf(wild).drifting);
}

TEST(Trend, ScatterIsRarelyADrift) {
  Generator generator(77);
  int drifting = 0, significant = 0;
  for (int run = 0; run < 1000; ++run) {
    Samples samples;
    for (int i = 0; i < 30; ++i) samples.push_back(std::exp(0.1 * Normal(generator)));
    drifting += DriftOf(samples).drifting ? 1 : 0;
    significant += MannKendall(samples).p < 0.05 ? 1 : 0;
  }
  EXPECT_LE(drifting, 20) << "of 1000 at 1 %";
  EXPECT_NEAR(significant, 50, 25) << "of 1000 at 5 %";
}

TEST(Trend, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(TheilSenSlope(Samples{1}), std::invalid_argument);
  EXPECT_THROW(MannKendall(Samples{1, std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

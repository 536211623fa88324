// Each statistic against values worked out by hand or with numpy.quantile (its default method), the
// order of the samples shuffled with a printed seed, and every precondition broken once.
#include "common/stats/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "gtest/gtest.h"

namespace dynbench::stats {
namespace {

using Samples = std::vector<double>;

TEST(StatsTest, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(Median(Samples{7}), 7);
  EXPECT_EQ(Median(Samples{3, 1, 2}), 2);
  EXPECT_EQ(Median(Samples{4, 1, 3, 2}), 2.5);
}

TEST(StatsTest, QuantilesAreThoseOfNumpy) {
  const Samples samples = {15, 20, 35, 40, 50};
  EXPECT_EQ(Quantile(samples, 0), 15);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.05), 16);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.4), 29);
  EXPECT_EQ(Quantile(samples, 1), 50);
  EXPECT_DOUBLE_EQ(InterquartileRange(samples), 20);
  EXPECT_DOUBLE_EQ(InterquartileRange(Samples{1, 2, 3, 4}), 1.5);
}

TEST(StatsTest, OrderOfSamplesDoesNotMatter) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Samples samples;
  for (int i = 0; i < 30; ++i) samples.push_back(i * i);
  const double median = Median(samples), spread = Spread(samples);
  std::shuffle(samples.begin(), samples.end(), random);
  EXPECT_EQ(Median(samples), median);
  EXPECT_EQ(Spread(samples), spread);
}

TEST(StatsTest, SpreadIgnoresAFewWildSamplesAndTheUnit) {
  Samples samples(30, 100.0);
  samples[3] = 90;
  samples[7] = 1e9;
  EXPECT_EQ(Spread(samples), 0);
  EXPECT_DOUBLE_EQ(Spread(Samples{1, 2, 3, 4, 5}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(Spread(Samples{1e9, 2e9, 3e9, 4e9, 5e9}), 2.0 / 3);
}

TEST(StatsTest, SpreadOfZerosAndAroundZero) {
  EXPECT_EQ(Spread(Samples{0, 0, 0}), 0);
  EXPECT_TRUE(std::isinf(Spread(Samples{-1, 0, 1})));
  EXPECT_GT(Spread(Samples{-3, -2, -1}), 0);
}

TEST(StatsTest, InfiniteSamplesGiveNoNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Median(Samples{infinity, infinity}), infinity);
  EXPECT_EQ(Median(Samples{1, infinity, infinity}), infinity);
}

TEST(StatsTest, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(Median(Samples{}), std::invalid_argument);
  EXPECT_THROW(Spread(Samples{}), std::invalid_argument);
  EXPECT_THROW(Median(Samples{1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(Quantile(Samples{1}, -0.1), std::invalid_argument);
  EXPECT_THROW(Quantile(Samples{1}, std::nan("")), std::invalid_argument);
}

TEST(StatsTest, NanosecondsKeepTheirValue) {
  const std::vector<int64_t> samples = {1, 9'007'199'254'740'992};
  EXPECT_EQ(ToDoubles(samples), (Samples{1, 9007199254740992.0}));
}

}  // namespace
}  // namespace dynbench::stats

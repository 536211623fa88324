// Method: ratios whose mean is plain, the interval against Student's t by hand, and broken input.
#include "common/stats/geometric_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace dynbench::stats {
namespace {

using Values = std::vector<double>;

TEST(GeometricMeanTest, OfRatios) {
  EXPECT_DOUBLE_EQ(GeometricMeanOf(Values{2, 0.5}).mean, 1);
  EXPECT_NEAR(GeometricMeanOf(Values{1, 10, 100}).mean, 10, 1e-9);
  const GeometricMean one = GeometricMeanOf(Values{3});
  EXPECT_DOUBLE_EQ(one.interval.low, one.mean);
  EXPECT_DOUBLE_EQ(one.interval.high, one.mean);
}

TEST(GeometricMeanTest, IntervalIsStudents) {
  // Logarithms 0, 1, 2: standard error 1 / sqrt(3), t(0.95, 2) = 4.3027.
  const GeometricMean mean = GeometricMeanOf(Values{1, std::exp(1), std::exp(2)});
  EXPECT_NEAR(std::log(mean.interval.high), 1 + 4.30265 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(std::log(mean.interval.low), 1 - 4.30265 / std::sqrt(3.0), 1e-4);
  EXPECT_EQ(mean.count, 3U);
}

TEST(GeometricMeanTest, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(GeometricMeanOf(Values{}), std::invalid_argument);
  EXPECT_THROW(GeometricMeanOf(Values{1, 0}), std::invalid_argument);
  EXPECT_THROW(GeometricMeanOf(Values{1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

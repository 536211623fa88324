// Method: values worked out by hand, the efficiency against the mean on seeded normal data, and a
// wild sample that must not move anything.
#include "common/stats/robust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

using Samples = std::vector<double>;

TEST(Robust, ValuesByHand) {
  const Samples samples = {1, 2, 3, 4, 100};
  EXPECT_DOUBLE_EQ(MedianAbsoluteDeviation(samples, false), 1);
  EXPECT_NEAR(MedianAbsoluteDeviation(samples), 1.4826, 1e-4);
  EXPECT_DOUBLE_EQ(TrimmedMean(samples, 0.2), 3);
  EXPECT_DOUBLE_EQ(TrimmedMean(samples, 0.1), 22) << "floor(0.5) samples are cut";
  EXPECT_DOUBLE_EQ(WinsorizedMean(samples, 0.2), (2 + 2 + 3 + 4 + 4) / 5.0);
  // Of the 15 means of pairs the middle one is 3.
  EXPECT_DOUBLE_EQ(HodgesLehmann(samples), 3);
  EXPECT_DOUBLE_EQ(HodgesLehmannShift(Samples{1, 2, 3}, Samples{11, 12, 500}), 10);
}

TEST(Robust, HodgesLehmannIsNearlyAsGoodAsTheMeanOnNormalData) {
  Generator generator(1963);
  double of_mean = 0, of_estimate = 0;
  for (int run = 0; run < 1000; ++run) {
    Samples samples;
    double mean = 0;
    for (int i = 0; i < 20; ++i) samples.push_back(Normal(generator));
    for (const double sample : samples) mean += sample / 20;
    const double estimate = HodgesLehmann(samples);
    of_mean += mean * mean;
    of_estimate += estimate * estimate;
  }
  EXPECT_NEAR(of_mean / of_estimate, 0.955, 0.06) << "3 / pi in the limit";
}

TEST(Robust, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(HodgesLehmann(Samples{}), std::invalid_argument);
  EXPECT_THROW(TrimmedMean(Samples{1, 2}, 0.5), std::invalid_argument);
  EXPECT_THROW(WinsorizedMean(Samples{1, std::nan("")}, 0.1), std::invalid_argument);
  EXPECT_THROW(MedianAbsoluteDeviation(Samples{std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

// Method: the coverage of each interval over many seeded samples of a known distribution, ranks
// worked out from the binomial distribution, and that one seed gives one answer.
#include "common/stats/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/stats.h"

namespace dynbench::stats {
namespace {

using Samples = std::vector<double>;

double MeanOf(std::span<const double> samples) {
  double mean = 0;
  for (const double sample : samples) mean += sample / static_cast<double>(samples.size());
  return mean;
}

// How often intervals of skewed samples (exponential, mean 1) hold the true mean.
template <typename Make>
double Coverage(Make make) {
  Generator generator(1979);
  int held = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    Samples samples;
    for (int i = 0; i < 25; ++i) samples.push_back(-std::log(1 - Uniform(generator)));
    const Interval interval = make(samples, generator);
    held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
  }
  return static_cast<double>(held) / kRuns;
}

TEST(Intervals, BootstrapHoldsWhatItPromises) {
  const double percentile = Coverage([](const Samples& samples, Generator& generator) {
    return BootstrapPercentile(samples, MeanOf, 0.95, 400, generator);
  });
  const double bca = Coverage([](const Samples& samples, Generator& generator) {
    return BootstrapBca(samples, MeanOf, 0.95, 400, generator);
  });
  EXPECT_GT(percentile, 0.87);
  EXPECT_GT(bca, 0.89);
  EXPECT_LT(bca, 0.98);
}

TEST(Intervals, OneSeedOneAnswer) {
  const Samples samples = {1, 4, 2, 8, 5, 7};
  Generator first(3), second(3), third(4);
  const auto median = [](std::span<const double> s) { return Median(s); };
  const Interval a = BootstrapBca(samples, median, 0.9, 500, first);
  EXPECT_EQ(a, BootstrapBca(samples, median, 0.9, 500, second));
  EXPECT_LT(a.low, a.high);
  EXPECT_NE(BootstrapPercentile(samples, MeanOf, 0.9, 50, first),
            BootstrapPercentile(samples, MeanOf, 0.9, 50, third));
}

TEST(Intervals, SamplesThatSayNothingOfSpread) {
  Generator generator(5);
  EXPECT_EQ(BootstrapBca(Samples{7}, MeanOf, 0.95, 100, generator), (Interval{7, 7}));
  EXPECT_EQ(BootstrapBca(Samples{7, 7, 7}, MeanOf, 0.95, 100, generator), (Interval{7, 7}));
}

TEST(Intervals, BrokenPreconditionsAreRefused) {
  Generator generator(1);
  EXPECT_THROW(BootstrapBca(Samples{}, MeanOf, 0.9, 10, generator), std::invalid_argument);
  EXPECT_THROW(BootstrapBca(Samples{1, 2}, MeanOf, 0.9, 0, generator), std::invalid_argument);
  EXPECT_THROW(BootstrapPercentile(Samples{1}, MeanOf, 1, 10, generator), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

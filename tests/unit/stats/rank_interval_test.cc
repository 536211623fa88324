// Method: textbook values, and the ranks of every size up to 300 against Boost's binomial.
#include "common/stats/rank_interval.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"

namespace dynbench::stats {
namespace {

using Samples = std::vector<double>;

TEST(RankInterval, RanksAreBinomial) {
  // n = 10: ranks 2 and 9 have 1 - 2 * 11 / 1024.
  const Samples ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  const RankInterval interval = MedianRankInterval(ten, 0.95);
  EXPECT_EQ(interval.interval, (Interval{2, 9}));
  EXPECT_NEAR(interval.confidence, 1 - 22.0 / 1024, 1e-12);
  // Three samples: the whole range has 75 %, which is said.
  const RankInterval three = MedianRankInterval(Samples{3, 1, 2}, 0.95);
  EXPECT_EQ(three.interval, (Interval{1, 3}));
  EXPECT_NEAR(three.confidence, 0.75, 1e-12);
  EXPECT_EQ(MedianRankInterval(Samples{5}, 0.95).confidence, 0);
}

TEST(RankInterval, AgreesWithBoost) {
  for (size_t n = 1; n <= 300; ++n) {
    Samples samples(n);
    std::iota(samples.begin(), samples.end(), 1.0);
    const RankInterval found = MedianRankInterval(samples, 0.95);
    const boost::math::binomial binomial(static_cast<double>(n), 0.5);
    const auto confidence_of = [&](double rank) {
      return 1 - 2 * boost::math::cdf(binomial, rank - 1);
    };
    const double rank = found.interval.low;
    EXPECT_EQ(found.interval.high, static_cast<double>(n) + 1 - rank) << n;
    EXPECT_NEAR(found.confidence, std::max(0.0, confidence_of(rank)), 1e-9) << n;
    if (rank > 1) {
      EXPECT_GE(confidence_of(rank), 0.95) << n;
    }
    if (2 * (rank + 1) <= static_cast<double>(n)) {
      EXPECT_LT(confidence_of(rank + 1), 0.95) << n;
    }
  }
}

TEST(RankInterval, ManySamplesHaveRanksToo) {
  Samples samples(20'000);  // 2^-20000 is no double
  std::iota(samples.begin(), samples.end(), 1.0);
  const RankInterval found = MedianRankInterval(samples, 0.95);
  EXPECT_NEAR(found.confidence, 0.95, 0.003);
  EXPECT_NEAR(found.interval.low, 10'000 - 1.96 * std::sqrt(20'000) / 2, 3);
}

TEST(RankInterval, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(MedianRankInterval(Samples{}, 0.9), std::invalid_argument);
  EXPECT_THROW(MedianRankInterval(Samples{std::nan("")}, 0.9), std::invalid_argument);
  EXPECT_THROW(MedianRankInterval(Samples{1, 2}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

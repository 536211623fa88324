#include "common/stats/rank_interval.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/stats/interval_check.h"

namespace dynbench::stats {
namespace {

struct Rank {
  size_t rank = 1;
  double confidence = 0;
};

// Ranks r and n + 1 - r have confidence 1 - 2 P(B <= r - 1), B binomial (n, 1/2); the largest r
// that is enough. Logarithms, since 2^-n is no double beyond a thousand samples.
Rank MedianRank(size_t n, double confidence) {
  double log_probability = -static_cast<double>(n) * std::numbers::ln2;  // of B = 0
  double below = std::exp(log_probability);
  Rank rank = {1, 1 - 2 * below};
  while (2 * (rank.rank + 1) <= n) {
    const auto k = static_cast<double>(rank.rank);
    log_probability += std::log((static_cast<double>(n) - k + 1) / k);
    below += std::exp(log_probability);
    if (1 - 2 * below < confidence) break;
    rank = {rank.rank + 1, 1 - 2 * below};
  }
  return rank;
}

}  // namespace

RankInterval MedianRankInterval(std::span<const double> samples, double confidence) {
  CheckInterval(samples, confidence);
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  const Rank rank = MedianRank(n, confidence);
  return {{sorted[rank.rank - 1], sorted[n - rank.rank]}, std::max(0.0, rank.confidence)};
}

}  // namespace dynbench::stats

#include "common/stats/bimodal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "common/stats/random.h"
#include "common/stats/stats.h"

namespace dynbench::stats {
namespace {

constexpr size_t kValuesMin = 5;
constexpr size_t kSimulations = 2000;
constexpr uint64_t kSeed = 1969;

struct Split {
  double ratio = 1;  // sum of squares within the clusters / of all
  size_t low_count = 0;
};

size_t ClusterMin(size_t n) { return std::max<size_t>(2, (n + 4) / 5); }

Split BestSplit(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  std::vector<double> sum(n + 1, 0), square(n + 1, 0);
  // Centred first: squares of large values would lose the differences.
  const double centre = sorted[n / 2];
  for (size_t i = 0; i < n; ++i) {
    const double x = sorted[i] - centre;
    sum[i + 1] = sum[i] + x;
    square[i + 1] = square[i] + x * x;
  }
  const auto within = [&](size_t begin, size_t end) {
    const double s = sum[end] - sum[begin];
    return square[end] - square[begin] - s * s / static_cast<double>(end - begin);
  };
  const double all = within(0, n);
  Split best;
  if (!(all > 0)) return best;
  for (size_t cut = ClusterMin(n); cut + ClusterMin(n) <= n; ++cut) {
    const double ratio = std::max(0.0, within(0, cut) + within(cut, n)) / all;
    if (ratio < best.ratio) best = {ratio, cut};
  }
  return best;
}

}  // namespace

const std::vector<double>& BimodalityTest::Simulated(size_t count) {
  std::vector<double>& ratios = simulated_[count];
  if (!ratios.empty()) return ratios;
  Generator generator(kSeed + count);
  for (size_t i = 0; i < kSimulations; ++i) {
    std::vector<double> values(count);
    for (double& value : values) value = Uniform(generator);
    std::sort(values.begin(), values.end());
    ratios.push_back(BestSplit(values).ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

Clusters BimodalityTest::Test(std::span<const double> values) {
  Clusters clusters;
  if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("clusters of values with NaN");
  }
  if (values.size() < kValuesMin) return clusters;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::isinf(sorted.front()) || std::isinf(sorted.back())) return clusters;
  const Split split = BestSplit(sorted);
  if (split.low_count == 0) return clusters;
  const auto& ratios = Simulated(sorted.size());
  const auto as_good = std::upper_bound(ratios.begin(), ratios.end(), split.ratio) - ratios.begin();
  clusters.p = static_cast<double>(as_good + 1) / static_cast<double>(ratios.size() + 1);
  const std::span<const double> all(sorted);
  clusters.low = Median(all.first(split.low_count));
  clusters.high = Median(all.subspan(split.low_count));
  clusters.low_count = split.low_count;
  clusters.high_count = sorted.size() - split.low_count;
  clusters.bimodal =
      clusters.p <= level_ && clusters.high - clusters.low > share_min_ * std::abs(clusters.low);
  return clusters;
}

}  // namespace dynbench::stats

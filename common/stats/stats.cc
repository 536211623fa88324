#include "common/stats/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace dynbench::stats {
namespace {

std::vector<double> Sorted(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument("a statistic of no samples");
  // NaN has no place in an order: std::sort would be undefined.
  for (const double sample : samples) {
    if (std::isnan(sample)) throw std::invalid_argument("a statistic of samples with NaN");
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double QuantileOfSorted(const std::vector<double>& sorted, double p) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument("a quantile outside [0, 1]");
  const double position = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  // Equal neighbours first: infinity - infinity would be NaN.
  if (fraction == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

}  // namespace

double Quantile(std::span<const double> samples, double p) {
  return QuantileOfSorted(Sorted(samples), p);
}

double Median(std::span<const double> samples) { return Quantile(samples, 0.5); }

double InterquartileRange(std::span<const double> samples) {
  const std::vector<double> sorted = Sorted(samples);
  return QuantileOfSorted(sorted, 0.75) - QuantileOfSorted(sorted, 0.25);
}

double Spread(std::span<const double> samples) {
  const double range = InterquartileRange(samples);
  if (range == 0) return 0;
  const double median = Median(samples);
  if (median == 0) return std::numeric_limits<double>::infinity();
  return range / std::abs(median);
}

std::vector<double> ToDoubles(std::span<const int64_t> samples) {
  return {samples.begin(), samples.end()};
}

}  // namespace dynbench::stats

#include "common/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/stats/stats.h"

namespace dynbench::stats {
namespace {

std::vector<double> Sorted(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument("a location of no samples");
  for (const double sample : samples) {
    if (std::isnan(sample)) throw std::invalid_argument("a location of samples with NaN");
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// How many samples to cut at each end.
size_t Cut(size_t n, double share) {
  if (!(share >= 0 && share < 0.5)) throw std::invalid_argument("a trimmed share outside [0, 0.5)");
  return static_cast<size_t>(std::floor(share * static_cast<double>(n)));
}

}  // namespace

double MedianAbsoluteDeviation(std::span<const double> samples, bool consistent) {
  const double centre = Median(samples);
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (const double sample : samples) distances.push_back(std::abs(sample - centre));
  return Median(distances) * (consistent ? 1.482602218505602 : 1);
}

double TrimmedMean(std::span<const double> samples, double share) {
  const std::vector<double> sorted = Sorted(samples);
  const size_t cut = Cut(sorted.size(), share);
  double sum = 0;
  for (size_t i = cut; i < sorted.size() - cut; ++i) sum += sorted[i];
  return sum / static_cast<double>(sorted.size() - 2 * cut);
}

double WinsorizedMean(std::span<const double> samples, double share) {
  std::vector<double> sorted = Sorted(samples);
  const size_t n = sorted.size(), cut = Cut(n, share);
  for (size_t i = 0; i < cut; ++i) {
    sorted[i] = sorted[cut];
    sorted[n - 1 - i] = sorted[n - 1 - cut];
  }
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(n);
}

double HodgesLehmann(std::span<const double> samples) {
  const std::vector<double> sorted = Sorted(samples);
  std::vector<double> means;
  means.reserve(sorted.size() * (sorted.size() + 1) / 2);
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = i; j < sorted.size(); ++j) means.push_back((sorted[i] + sorted[j]) / 2);
  }
  return Median(means);
}

double HodgesLehmannShift(std::span<const double> base, std::span<const double> fresh) {
  std::vector<double> differences;
  differences.reserve(base.size() * fresh.size());
  for (const double b : base) {
    for (const double f : fresh) differences.push_back(f - b);
  }
  return Median(differences);
}

}  // namespace dynbench::stats

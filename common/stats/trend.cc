#include "common/stats/trend.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "common/stats/stats.h"

namespace dynbench::stats {
namespace {

constexpr double kCertain = 0.01;

void Check(std::span<const double> samples) {
  if (samples.size() < 2) throw std::invalid_argument("a trend needs two samples");
  if (std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("a trend of samples with NaN");
  }
}

}  // namespace

double TheilSenSlope(std::span<const double> samples) {
  Check(samples);
  std::vector<double> slopes;
  slopes.reserve(samples.size() * (samples.size() - 1) / 2);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = i + 1; j < samples.size(); ++j) {
      slopes.push_back((samples[j] - samples[i]) / static_cast<double>(j - i));
    }
  }
  return Median(slopes);
}

TrendTest MannKendall(std::span<const double> samples) {
  Check(samples);
  TrendTest test;
  const auto n = static_cast<double>(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = i + 1; j < samples.size(); ++j) {
      test.s += samples[j] > samples[i] ? 1 : samples[j] < samples[i] ? -1 : 0;
    }
  }
  test.tau = test.s / (n * (n - 1) / 2);
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  double variance = n * (n - 1) * (2 * n + 5);
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const auto t = static_cast<double>(j - i);
    variance -= t * (t - 1) * (2 * t + 5);
    i = j;
  }
  const double size = std::abs(test.s) - 1;
  if (variance <= 0 || size <= 0) return test;
  const double z = size / std::sqrt(variance / 18);
  test.p = 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
  return test;
}

Drift DriftOf(std::span<const double> samples, double share_min) {
  Drift drift;
  drift.p = MannKendall(samples).p;
  const double rise = TheilSenSlope(samples) * static_cast<double>(samples.size() - 1);
  const double median = Median(samples);
  const double first = median - rise / 2;
  drift.change = first == 0 ? 0 : rise / first;
  drift.drifting = drift.p < kCertain && std::abs(drift.change) > share_min;
  return drift;
}

}  // namespace dynbench::stats

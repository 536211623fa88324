#include "common/stats/intervals.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/interval_check.h"
#include "common/stats/stats.h"

namespace dynbench::stats {
namespace {

std::vector<double> Resample(std::span<const double> samples, const Statistic& statistic,
                             size_t resamples, Generator& generator) {
  if (resamples == 0) throw std::invalid_argument("a bootstrap without resamples");
  std::vector<double> drawn(samples.size()), values;
  values.reserve(resamples);
  for (size_t i = 0; i < resamples; ++i) {
    for (double& sample : drawn) sample = samples[UniformIndex(generator, samples.size())];
    values.push_back(statistic(drawn));
  }
  std::sort(values.begin(), values.end());
  return values;
}

// Acceleration: the skewness of the jackknife's values over 6.
double Acceleration(std::span<const double> samples, const Statistic& statistic) {
  const size_t n = samples.size();
  std::vector<double> values;
  for (size_t left_out = 0; left_out < n; ++left_out) {
    std::vector<double> rest;
    for (size_t i = 0; i < n; ++i) {
      if (i != left_out) rest.push_back(samples[i]);
    }
    values.push_back(statistic(rest));
  }
  double mean = 0, square = 0, cube = 0;
  for (const double value : values) mean += value / static_cast<double>(n);
  for (const double value : values) {
    const double d = mean - value;
    square += d * d;
    cube += d * d * d;
  }
  return square == 0 ? 0 : cube / (6 * std::pow(square, 1.5));
}

}  // namespace

Interval BootstrapPercentile(std::span<const double> samples, const Statistic& statistic,
                             double confidence, size_t resamples, Generator& generator) {
  CheckInterval(samples, confidence);
  const auto values = Resample(samples, statistic, resamples, generator);
  const double tail = (1 - confidence) / 2;
  return {Quantile(values, tail), Quantile(values, 1 - tail)};
}

Interval BootstrapBca(std::span<const double> samples, const Statistic& statistic,
                      double confidence, size_t resamples, Generator& generator) {
  CheckInterval(samples, confidence);
  const double estimate = statistic(samples);
  if (samples.size() == 1) return {estimate, estimate};
  const auto values = Resample(samples, statistic, resamples, generator);
  if (values.front() == values.back()) return {estimate, estimate};
  // Half of the ties count, so that a statistic with few values (a median) has no false bias.
  double below = 0;
  for (const double value : values) below += value < estimate ? 1 : value == estimate ? 0.5 : 0;
  const auto count = static_cast<double>(values.size());
  const double share = std::clamp(below / count, 0.5 / count, 1 - 0.5 / count);
  const boost::math::normal normal;
  const double bias = boost::math::quantile(normal, share);
  const double acceleration = Acceleration(samples, statistic);
  const auto adjusted = [&](double p) {
    const double z = bias + boost::math::quantile(normal, p);
    const double denominator = 1 - acceleration * z;
    if (denominator <= 0) return z > 0 ? 1.0 : 0.0;
    return boost::math::cdf(normal, bias + z / denominator);
  };
  const double tail = (1 - confidence) / 2;
  return {Quantile(values, adjusted(tail)), Quantile(values, adjusted(1 - tail))};
}

}  // namespace dynbench::stats

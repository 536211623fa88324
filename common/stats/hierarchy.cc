#include "common/stats/hierarchy.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "common/stats/stats.h"
#include "common/stats/welch.h"

namespace dynbench::stats {
namespace {

double Mean(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  if (std::isnan(mean)) throw std::invalid_argument("process values with NaN");
  return mean;
}

// x with trigamma(x) = y, by bisection of log x: trigamma falls from infinity to 0.
double TrigammaInverse(double y) {
  double low = std::log(1e-7), high = std::log(1e7);
  for (int i = 0; i < 200 && high - low > 1e-12; ++i) {
    const double middle = (low + high) / 2;
    (boost::math::trigamma(std::exp(middle)) > y ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace

Variance PooledVariance(std::span<const std::vector<double>> groups) {
  Variance pooled;
  double squares = 0;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const double mean = Mean(group);
    for (const double value : group) squares += (value - mean) * (value - mean);
    pooled.degrees_of_freedom += static_cast<double>(group.size() - 1);
  }
  if (pooled.degrees_of_freedom > 0) pooled.variance = squares / pooled.degrees_of_freedom;
  return pooled;
}

VariancePrior FitVariancePrior(std::span<const Variance> variances, size_t series_min,
                               double degrees_max) {
  std::vector<Variance> known;
  for (const Variance& v : variances) {
    if (v.degrees_of_freedom > 0 && std::isfinite(v.variance)) known.push_back(v);
  }
  if (known.size() < std::max<size_t>(series_min, 2)) return {};
  std::vector<double> sizes;
  for (const Variance& v : known) sizes.push_back(v.variance);
  const double typical = Median(sizes);
  if (!(typical > 0)) return {};
  // A variance of exactly 0 (equal values) has no logarithm; the source's authors cut there, too.
  const double smallest = typical * 1e-5;
  const auto n = static_cast<double>(known.size());
  std::vector<double> logs;
  double mean = 0, expected = 0, spread = 0;
  for (const Variance& v : known) {
    const double half = v.degrees_of_freedom / 2;
    logs.push_back(std::log(std::max(v.variance, smallest)) - boost::math::digamma(half) +
                   std::log(half));
    mean += logs.back() / n;
    expected += boost::math::trigamma(half) / n;
  }
  for (const double log : logs) spread += (log - mean) * (log - mean) / (n - 1);
  const double excess = spread - expected;
  if (excess <= 0) return {std::exp(mean), degrees_max};
  const double half = TrigammaInverse(excess);
  return {std::exp(mean + boost::math::digamma(half) - std::log(half)),
          std::min(2 * half, degrees_max)};
}

Variance Moderate(const Variance& own, const VariancePrior& prior) {
  if (prior.degrees_of_freedom <= 0) return own;
  if (std::isinf(prior.degrees_of_freedom)) return {prior.variance, prior.degrees_of_freedom};
  const double degrees = own.degrees_of_freedom + prior.degrees_of_freedom;
  return {
      (own.degrees_of_freedom * own.variance + prior.degrees_of_freedom * prior.variance) / degrees,
      degrees};
}

double MedianVarianceOfLogs(std::span<const double> logs) {
  constexpr double kRangeOfNormal = 1.3489795003921634;  // 2 z(0.75)
  const double sigma = InterquartileRange(logs) / kRangeOfNormal;
  if (logs.size() < 2) return 0;
  return std::numbers::pi / 2 * sigma * sigma / static_cast<double>(logs.size());
}

double MedianVariance(std::span<const double> samples) {
  return MedianVarianceOfLogs(Logs(samples));
}

Shift CompareProcesses(std::span<const double> base, std::span<const double> fresh,
                       const Variance& between, double confidence) {
  const Stratum all{{base.begin(), base.end()}, {fresh.begin(), fresh.end()}};
  return CompareStrata({&all, 1}, between, confidence);
}

double Stratum::weight() const {
  const auto k = static_cast<double>(base.size()), m = static_cast<double>(fresh.size());
  return k > 0 && m > 0 ? 1 / (1 / k + 1 / m) : 0;
}

Shift CompareStrata(std::span<const Stratum> strata, const Variance& between, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence outside (0, 1)");
  }
  double weights = 0;
  for (const Stratum& stratum : strata) weights += stratum.weight();
  if (!(weights > 0)) throw std::invalid_argument("a comparison of an empty side");
  Shift shift;
  for (const Stratum& stratum : strata) {
    if (stratum.weight() == 0) continue;
    shift.difference += stratum.weight() / weights * (Mean(stratum.fresh) - Mean(stratum.base));
  }
  shift.degrees_of_freedom = between.degrees_of_freedom;
  shift.standard_error = std::sqrt(between.variance / weights);
  const double t_of_interval = TwoSidedT(1 - confidence, shift.degrees_of_freedom);
  const double half = t_of_interval * shift.standard_error;
  shift.interval = {shift.difference - half, shift.difference + half};
  if (shift.standard_error > 0) {
    shift.p = TwoSidedP(shift.difference / shift.standard_error, shift.degrees_of_freedom);
  } else {
    shift.p = shift.difference == 0 ? 1 : 0;
  }
  return shift;
}

}  // namespace dynbench::stats

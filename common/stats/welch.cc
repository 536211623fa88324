#include "common/stats/welch.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace dynbench::stats {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;  // with n - 1
  double n = 0;
};

Moments MomentsOf(std::span<const double> values) {
  if (values.size() < 2) throw std::invalid_argument("Welch's test needs two values a side");
  Moments moments;
  moments.n = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / moments.n;
  if (std::isnan(moments.mean)) throw std::invalid_argument("Welch's test of values with NaN");
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / (moments.n - 1);
  }
  return moments;
}

void CheckDegrees(double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0)) {
    throw std::invalid_argument("a t distribution without degrees of freedom");
  }
}

}  // namespace

double TwoSidedP(double t, double degrees_of_freedom) {
  CheckDegrees(degrees_of_freedom);
  const double size = std::abs(t);
  if (std::isnan(size)) throw std::invalid_argument("a t value that is no number");
  if (std::isinf(size)) return 0;
  if (std::isinf(degrees_of_freedom)) {
    return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), size));
  }
  const boost::math::students_t distribution(degrees_of_freedom);
  return 2 * boost::math::cdf(boost::math::complement(distribution, size));
}

double TwoSidedT(double p, double degrees_of_freedom) {
  CheckDegrees(degrees_of_freedom);
  if (!(p > 0 && p <= 1)) throw std::invalid_argument("a probability outside (0, 1]");
  if (std::isinf(degrees_of_freedom)) {
    return boost::math::quantile(boost::math::complement(boost::math::normal(), p / 2));
  }
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(distribution, p / 2));
}

TTest Welch(std::span<const double> base, std::span<const double> fresh, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence outside (0, 1)");
  }
  const Moments b = MomentsOf(base), f = MomentsOf(fresh);
  TTest test;
  test.difference = f.mean - b.mean;
  const double of_base = b.variance / b.n, of_fresh = f.variance / f.n;
  test.standard_error = std::sqrt(of_base + of_fresh);
  if (test.standard_error == 0) {
    test.degrees_of_freedom = b.n + f.n - 2;
    test.p = test.difference == 0 ? 1 : 0;
    test.t = test.difference == 0
                 ? 0
                 : std::copysign(std::numeric_limits<double>::infinity(), test.difference);
    test.interval = {test.difference, test.difference};
    return test;
  }
  test.degrees_of_freedom = (of_base + of_fresh) * (of_base + of_fresh) /
                            (of_base * of_base / (b.n - 1) + of_fresh * of_fresh / (f.n - 1));
  test.t = test.difference / test.standard_error;
  test.p = TwoSidedP(test.t, test.degrees_of_freedom);
  const double half = TwoSidedT(1 - confidence, test.degrees_of_freedom) * test.standard_error;
  test.interval = {test.difference - half, test.difference + half};
  return test;
}

std::vector<double> Logs(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    if (!(value > 0)) throw std::invalid_argument("the logarithm of a value that is not above 0");
    logs.push_back(std::log(value));
  }
  return logs;
}

}  // namespace dynbench::stats

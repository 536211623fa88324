#include "common/stats/geometric_mean.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/stats/welch.h"

namespace dynbench::stats {

GeometricMean GeometricMeanOf(std::span<const double> values, double confidence) {
  if (values.empty()) throw std::invalid_argument("a geometric mean of no values");
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence outside (0, 1)");
  }
  const std::vector<double> logs = Logs(values);
  const auto n = static_cast<double>(logs.size());
  double mean = 0, square = 0;
  for (const double log : logs) mean += log / n;
  for (const double log : logs) square += (log - mean) * (log - mean);
  double half = 0;
  if (logs.size() > 1) half = TwoSidedT(1 - confidence, n - 1) * std::sqrt(square / (n - 1) / n);
  return {std::exp(mean), {std::exp(mean - half), std::exp(mean + half)}, logs.size()};
}

}  // namespace dynbench::stats

#include "common/stats/shift_evidence.h"

#include <cmath>
#include <stdexcept>

namespace dynbench::stats {

double ShiftEvidence(std::span<const double> values, const VariancePrior& noise, double width) {
  if (!(width > 0) || !(noise.variance >= 0) || !(noise.degrees_of_freedom >= 0)) {
    throw std::invalid_argument("evidence of a shift needs a width and a prior");
  }
  double sum = 0, squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("a difference must be finite");
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(values.size());
  const double explained = sum * sum / (n + 1 / width);
  const double occam = std::log1p(n * width) / 2;
  if (std::isinf(noise.degrees_of_freedom)) {
    return noise.variance > 0 ? explained / (2 * noise.variance) - occam : 0;
  }
  const double all = noise.degrees_of_freedom * noise.variance + squares;
  if (values.empty() || !(all > 0)) return 0;
  return -occam - (noise.degrees_of_freedom + n) / 2 * std::log((all - explained) / all);
}

}  // namespace dynbench::stats

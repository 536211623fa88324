// What every interval asks of its arguments. Only std: the runner compiles it too.
#pragma once

#include <cmath>
#include <span>
#include <stdexcept>

namespace dynbench::stats {

// Throws std::invalid_argument: no samples, a NaN, or a confidence outside (0, 1).
inline void CheckInterval(std::span<const double> samples, double confidence) {
  if (samples.empty()) throw std::invalid_argument("an interval of no samples");
  for (const double sample : samples) {
    if (std::isnan(sample)) throw std::invalid_argument("an interval of samples with NaN");
  }
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence outside (0, 1)");
  }
}

}  // namespace dynbench::stats

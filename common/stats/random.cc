#include "common/stats/random.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace dynbench::stats {

double Uniform(Generator& generator) { return static_cast<double>(generator() >> 11) * 0x1.0p-53; }

size_t UniformIndex(Generator& generator, size_t n) {
  if (n == 0) throw std::invalid_argument("a random index of nothing");
  return static_cast<size_t>(Uniform(generator) * static_cast<double>(n));
}

double Normal(Generator& generator) {
  const double u = 1 - Uniform(generator);  // in (0, 1], so that the logarithm is finite
  const double v = Uniform(generator);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace dynbench::stats

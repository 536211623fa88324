#include "common/stats/break_even.h"

#include <algorithm>
#include <cmath>

namespace dynbench::stats {

std::optional<double> BreakEvenCalls(double compile_s, double eager_s, double compiled_s) {
  const double saved_s = eager_s - compiled_s;
  if (!std::isfinite(compile_s) || !std::isfinite(saved_s) || saved_s <= 0) return std::nullopt;
  return std::max(0.0, compile_s) / saved_s;
}

}  // namespace dynbench::stats

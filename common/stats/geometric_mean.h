// The mean of ratios: of 2.0x and 0.5x it is 1.0x (Fleming and Wallace, "How Not to Lie with
// Statistics: The Correct Way to Summarize Benchmark Results", Communications of the ACM 29, 1986).
#pragma once

#include <cstddef>
#include <span>

#include "common/stats/intervals.h"

namespace dynbench::stats {

struct GeometricMean {
  double mean = 1;
  Interval interval;  // Student's t on the logarithms; for one value the value itself twice
  size_t count = 0;
};

// exp(mean of logarithms). The interval is over the models as a sample of such models, not over
// repeated runs of these. Preconditions (checked, std::invalid_argument): not empty, all > 0,
// confidence in (0, 1). Pure.
GeometricMean GeometricMeanOf(std::span<const double> values, double confidence = 0.95);

}  // namespace dynbench::stats

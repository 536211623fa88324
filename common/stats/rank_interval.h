// The interval of a median between two order statistics. Only std: the runner compiles it too.
//
// Preconditions (checked, std::invalid_argument): samples are not empty and hold no NaN, confidence
// is in (0, 1). Thread-safe: no state.
#pragma once

#include <cstddef>
#include <span>

#include "common/stats/intervals.h"

namespace dynbench::stats {

struct RankInterval {
  Interval interval;
  double confidence = 0;  // what the interval really has: at least what was asked, or the most
                          // that so few samples can give
};

// Of the median, between two order statistics: the ranks are binomial quantiles, so the confidence
// is exact for any continuous distribution (David and Nagaraja, "Order Statistics", 2003, 7.1).
// Below six samples the whole range has less than 95 %; `confidence` says how much.
RankInterval MedianRankInterval(std::span<const double> samples, double confidence);

}  // namespace dynbench::stats

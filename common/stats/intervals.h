// Intervals around an estimate, without assuming a distribution.
//
// Preconditions (checked, std::invalid_argument): samples are not empty and hold no NaN, confidence
// is in (0, 1), resamples > 0. Pure; a bootstrap advances the caller's generator, so one seed gives
// one answer.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "common/stats/random.h"

namespace dynbench::stats {

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

using Statistic = std::function<double(std::span<const double>)>;

// Quantiles of the statistic over `resamples` samples drawn with replacement (Efron, "Bootstrap
// Methods: Another Look at the Jackknife", The Annals of Statistics 7, 1979). Too narrow below
// about ten samples.
Interval BootstrapPercentile(std::span<const double> samples, const Statistic& statistic,
                             double confidence, size_t resamples, Generator& generator);

// The same with bias correction and acceleration (Efron, "Better Bootstrap Confidence Intervals",
// Journal of the American Statistical Association 82, 1987; acceleration from the jackknife).
// One sample, or samples that are all equal, give the estimate itself twice.
Interval BootstrapBca(std::span<const double> samples, const Statistic& statistic,
                      double confidence, size_t resamples, Generator& generator);

}  // namespace dynbench::stats

// Whether a sequence drifts: a device that heats up and throttles, a leak, a cache that warms.
//
// Preconditions (checked, std::invalid_argument): two samples or more, no NaN. Pure.
#pragma once

#include <span>

namespace dynbench::stats {

// Median of the slopes of all pairs, per step (Theil, Proceedings of the Royal Netherlands Academy
// of Sciences 53, 1950; Sen, Journal of the American Statistical Association 63, 1968). O(n^2).
double TheilSenSlope(std::span<const double> samples);

struct TrendTest {
  double s = 0;    // pairs that rise minus pairs that fall
  double tau = 0;  // s over the number of pairs, in [-1, 1]
  double p = 1;    // two-sided
};

// Mann, "Nonparametric Tests Against Trend", Econometrica 13 (1945); Kendall, "Rank Correlation
// Methods" (1948): normal approximation with corrections for ties and for continuity. Takes the
// samples as independent, so a slow wave can look like a trend.
TrendTest MannKendall(std::span<const double> samples);

struct Drift {
  bool drifting = false;
  double change = 0;  // fitted last / fitted first - 1
  double p = 1;
};

// A trend that is both certain (Mann-Kendall p < 0.01) and large (the fitted line changes by more
// than `share_min` of the median from first to last sample).
Drift DriftOf(std::span<const double> samples, double share_min = 0.02);

}  // namespace dynbench::stats

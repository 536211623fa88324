// Location and spread that a few wild samples cannot move. Timings have a long right tail (another
// tenant, an interrupt), so means and standard deviations of raw samples describe the tail.
//
// Preconditions (checked, std::invalid_argument): samples are not empty and hold no NaN. Any order.
// Units are the samples'. Pure.
#pragma once

#include <span>

namespace dynbench::stats {

// Median of |x - median(x)|. `consistent` multiplies by 1.4826 = 1 / z(0.75), which makes it an
// estimate of the standard deviation of normal data (Hampel, "The Influence Curve and Its Role in
// Robust Estimation", Journal of the American Statistical Association 69, 1974).
double MedianAbsoluteDeviation(std::span<const double> samples, bool consistent = true);

// Mean without the floor(share n) smallest and as many largest samples; `share` is in [0, 0.5)
// (Tukey and McLaughlin, Sankhya A 25, 1963).
double TrimmedMean(std::span<const double> samples, double share);

// Mean after those samples were replaced by the nearest one that is kept (Dixon, The Annals of
// Mathematical Statistics 31, 1960).
double WinsorizedMean(std::span<const double> samples, double share);

// Median of the means of all pairs, each sample with itself included: nearly as efficient as the
// mean for normal data, and unmoved by 29 % of wild samples (Hodges and Lehmann, "Estimates of
// Location Based on Rank Tests", The Annals of Mathematical Statistics 34, 1963). O(n^2).
double HodgesLehmann(std::span<const double> samples);

// The shift from `base` to `fresh`: median of all differences fresh - base, the estimate that
// belongs to the Mann-Whitney test (same source). O(n m).
double HodgesLehmannShift(std::span<const double> base, std::span<const double> fresh);

}  // namespace dynbench::stats

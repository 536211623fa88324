// Comparing two sides whose values come in processes. The samples of one process share its address
// layout, its chosen kernels, its neighbours: thirty of them are one measurement, told thirty
// times. Sample-wise tests called 13 of 15 pairs of identical processes different. So the unit of
// inference is the process: one value each (the logarithm of its median), the variance between
// processes, and, because three processes tell a variance badly, a prior learned from many series.
//
// All values are natural logarithms, so that differences are ratios. Pure.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "common/stats/intervals.h"

namespace dynbench::stats {

struct Variance {
  double variance = 0;
  double degrees_of_freedom = 0;  // 0: nothing is known

  bool operator==(const Variance&) const = default;
};

// Of values around the mean of their own group, over all groups: sum of squares over (values -
// groups). Groups with fewer than two values say nothing. No NaN (checked, std::invalid_argument).
Variance PooledVariance(std::span<const std::vector<double>> groups);

// What the variances of many series of one kind say of the next: as good as
// `degrees_of_freedom` own ones around `variance`. Infinite: all series have the same one; 0: no
// prior.
struct VariancePrior {
  double variance = 0;
  double degrees_of_freedom = 0;
};

// By matching the mean and the variance of log s^2 with those of a scaled F distribution (Smyth,
// "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray
// Experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2).
// Fewer than `series_min` variances with degrees of freedom: no prior. Degrees of freedom are cut
// at `degrees_max`, so that series with heavier tails than the model says keep some say.
VariancePrior FitVariancePrior(std::span<const Variance> variances, size_t series_min = 5,
                               double degrees_max = std::numeric_limits<double>::infinity());

// The posterior mean: (d0 s0^2 + d s^2) / (d0 + d) with d0 + d degrees of freedom (same source).
Variance Moderate(const Variance& own, const VariancePrior& prior);

// Variance of the logarithm of a process's median, from its samples (all > 0; checked,
// std::invalid_argument): pi / 2 sigma^2 / n, sigma from the interquartile range of the logarithms
// (normal theory; Kendall and Stuart, "The Advanced Theory of Statistics" 1, 10.10). 0 for one.
double MedianVariance(std::span<const double> samples);
// The same of values that are logarithms already.
double MedianVarianceOfLogs(std::span<const double> logs);

struct Shift {
  double difference = 0;  // mean of new minus mean of base
  double standard_error = 0;
  double degrees_of_freedom = 0;
  double p = 1;  // two-sided
  Interval interval;
};

// t test with the variance given: standard error sqrt(variance (1/k + 1/m)). One value a side is
// enough when the variance is known from elsewhere. Preconditions (checked,
// std::invalid_argument): neither side empty, degrees of freedom > 0, confidence in (0, 1).
Shift CompareProcesses(std::span<const double> base, std::span<const double> fresh,
                       const Variance& between, double confidence = 0.95);

// The processes of either side that one host had.
struct Stratum {
  std::vector<double> base, fresh;

  // What it says of the difference: k m / (k + m), the inverse of 1/k + 1/m. 0: a side is empty.
  double weight() const;
};

// The same over several hosts, each with a level of its own: the mean of the differences within
// them, by their weights, with standard error sqrt(variance / sum of the weights) (inverse variance
// weighting: Cochran, "The Combination of Estimates from Different Experiments", Biometrics 10,
// 1954). So how many of a side's processes ran where is in no difference. One stratum:
// CompareProcesses. Preconditions as there, and one weight above 0.
Shift CompareStrata(std::span<const Stratum> strata, const Variance& between,
                    double confidence = 0.95);

}  // namespace dynbench::stats

// Statistics of samples, each a pure function. Only std: the runner compiles this library too.
//
// Quantiles are type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
// Statistician 50 (1996): linear interpolation between order statistics, h = (n - 1) p. It is what
// numpy.quantile and R's default give, so the median equals upstream's numpy.median.
//
// Preconditions (checked, std::invalid_argument): samples are not empty and hold no NaN, p is in
// [0, 1]. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dynbench::stats {

// The p-quantile of `samples`, which need not be sorted.
double Quantile(std::span<const double> samples, double p);

// The 0.5-quantile: the middle sample, or the mean of the two middle ones.
double Median(std::span<const double> samples);

// Third quartile minus first quartile: the width of the middle half (Tukey, "Exploratory Data
// Analysis", 1977). Zero for one sample. In the samples' unit.
double InterquartileRange(std::span<const double> samples);

// Interquartile range / median, without unit: robust against the long right tail that timings have,
// unlike standard deviation / mean. Zero when the interquartile range is zero; infinite when only
// the median is zero.
double Spread(std::span<const double> samples);

// Nanoseconds as they are stored, for the functions above.
std::vector<double> ToDoubles(std::span<const int64_t> samples);

}  // namespace dynbench::stats

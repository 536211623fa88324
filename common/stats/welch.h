// Welch's t test of two means with unequal variances, used on logarithms of per-process medians:
// then the difference is a ratio, and "2 % slower" means the same for every model.
#pragma once

#include <span>
#include <vector>

#include "common/stats/intervals.h"

namespace dynbench::stats {

struct TTest {
  double difference = 0;  // mean of new minus mean of base
  double standard_error = 0;
  double degrees_of_freedom = 0;
  double t = 0;
  double p = 1;  // two-sided
  Interval interval;
};

// Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are
// Involved", Biometrika 34 (1947); degrees of freedom by Satterthwaite (Biometrics Bulletin 2,
// 1946). Sides without any spread: p is 0 when the means differ, else 1.
// Preconditions (checked, std::invalid_argument): two values a side or more, no NaN, confidence in
// (0, 1). Pure.
TTest Welch(std::span<const double> base, std::span<const double> fresh, double confidence = 0.95);

// Two-sided p of a t value, and the t value of a two-sided p. Infinite degrees of freedom are the
// normal distribution. p in (0, 1], degrees of freedom > 0 (checked, std::invalid_argument).
double TwoSidedP(double t, double degrees_of_freedom);
double TwoSidedT(double p, double degrees_of_freedom);

// Natural logarithms. Values > 0 (checked, std::invalid_argument).
std::vector<double> Logs(std::span<const double> values);

}  // namespace dynbench::stats

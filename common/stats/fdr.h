// Many tests at once: with 100 models and five metrics a level of 5 % a test would give 25 false
// alarms every night.
#pragma once

#include <span>
#include <vector>

namespace dynbench::stats {

struct Discoveries {
  std::vector<bool> rejected;    // in the order of the p values
  std::vector<double> adjusted;  // the smallest rate at which each would be rejected
  double cut = 0;                // the p that was just small enough: rate / n when none was
};

// Benjamini and Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical
// Society B 57 (1995): of what is rejected, at most `rate` is wrong on average; when nothing has
// changed at all, the probability of even one rejection is at most `rate`. Holds for independent
// tests and for positively dependent ones (Benjamini and Yekutieli, The Annals of Statistics 29,
// 2001), which the metrics of one model are.
// Preconditions (checked, std::invalid_argument): each p in [0, 1], rate in (0, 1). Pure.
Discoveries BenjaminiHochberg(std::span<const double> p, double rate);

}  // namespace dynbench::stats

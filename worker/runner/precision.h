// How precisely the samples tell the speedup, and whether to take more: the stopping rule of
// --target-precision. Pure, no clock.
//
// The figure is the 95 % interval of the median of the pairs' ratios (eager / compiled), between
// order statistics, so nothing is assumed of the timings' distribution; half of its width as a
// share of the median. What stops the sampling is the width and never the ratio itself, so that
// looking often does not favour any answer.
#pragma once

#include <cstdint>
#include <optional>

#include "worker/runner/timing.h"

namespace dynbench::runner {

// Samples are kept in the row; beyond this many pairs more of them say nothing about the process.
inline constexpr int kMostPairs = 20'000;

struct PrecisionGoal {
  double target = 0;    // half width / median; 0: none
  double budget_s = 0;  // of the blocks after the first
  int pairs_a_block = 30;
};

// Half of the width of the 95 % interval of the median ratio / the median ratio. Nothing below six
// pairs, of which no interval has 95 %.
std::optional<double> RelativePrecision(const Samples& samples);

enum class PrecisionStep { kReached, kBudgetSpent, kGoOn };

struct PrecisionDecision {
  PrecisionStep step = PrecisionStep::kReached;
  int pairs = 0;  // of the next block: as many as the budget has room for, one at least
};

// After `pairs` pairs with `reached`, and `spent_s` of the budget: on with a block, unless the
// target is met, or what is left of the budget has no room for a pair of `pair_s` seconds.
PrecisionDecision DecidePrecision(const PrecisionGoal& goal, std::optional<double> reached,
                                  int pairs, double spent_s, double pair_s);

// Appends `block`'s pairs to `samples`.
void Append(const Samples& block, Samples* samples);

}  // namespace dynbench::runner

// How noisy a series is on a device, learned from A/A runs: processes that measured the same build.
// Noise between processes and within a process are kept apart, since more samples cure only the
// second.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/stats/hierarchy.h"

namespace dynbench::stats {

struct NoiseFloor {
  // Standard deviations of natural logarithms: 0.02 is two percent.
  double between = 0;  // of the processes' true medians
  double within = 0;   // of one sample inside a process; robust (interquartile range)
  // What a process's median shows: both together, with what is known of it. Feeds Moderate.
  Variance of_medians;
  size_t processes = 0;
};

// `processes` holds the samples of each process, all > 0, none empty (checked,
// std::invalid_argument). `between` by the method of moments of a one-way random-effects model
// (Searle, Casella and McCulloch, "Variance Components", 1992, 3.6): the variance of the medians
// less the part that sampling explains, never below 0. One process: `of_medians` says nothing.
NoiseFloor EstimateNoiseFloor(std::span<const std::vector<double>> processes);

// The smallest change (as a ratio minus 1) that k and m processes can tell from this noise at a
// two-sided level p. Infinite when nothing is known of the noise.
double SmallestChange(const Variance& of_medians, size_t base, size_t fresh, double p);

}  // namespace dynbench::stats

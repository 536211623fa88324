// What differs between two sides of a pair, and whether that forbids comparing them. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/judge/fingerprint.h"

namespace dynbench::judge {

struct Difference {
  std::string field;  // "batch size", "driver", "options.freezing"
  std::string base;   // every value of that side, "4, 8"; empty: has none
  std::string fresh;
  bool blocks = false;  // the rows are incomparable unless that was asked for

  bool operator==(const Difference&) const = default;
};

// "batch size 4 → 8".
std::string ToString(const Difference& difference);

// Host, effective settings and accuracy rule of the processes. What is compared (the build) does
// not count, unless one side alone mixes builds. Blocks: CPU, GPU, driver, kernel, cores, memory,
// batch size, weights, threads, unproven starts. Noted: the host's name, the function that judges
// accuracy, the kernels that autotuning chose.
std::vector<Difference> ProcessDifferences(const std::vector<const Process*>& base,
                                           const std::vector<const Process*>& fresh);

// Fields of two experiments' canonical JSON that are part of the series and differ ("batch_size",
// "options.freezing"); all of them block.
std::vector<Difference> SeriesDifferences(const plan::Experiment& base,
                                          const plan::Experiment& fresh);

// Build facts that differ over whole sides: the table of software. Nothing blocks.
std::vector<Difference> BuildDifferences(const Side& base, const Side& fresh);

}  // namespace dynbench::judge

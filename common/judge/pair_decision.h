// Whether a pair needs a further round. A pure function of its rounds, so that a coordinator that
// was restarted decides as the one before; docs/statistics.md has its error rates.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/judge/rounds.h"
#include "common/stats/hierarchy.h"

namespace dynbench::judge {

struct PairRules {
  size_t rounds_min = 3;
  size_t rounds_max = 12;
  // An unchanged pair is called changed with probability at most alpha, however often one looks; a
  // change of `effect` (a share) is called none with probability at most beta. On a host too noisy
  // for that within `rounds_max`, `coarse_effect` takes its place: the resolution of compare.
  double alpha = 0.002;
  double beta = 0.01;
  double effect = 0.02;
  double coarse_effect = 0.05;
  double threshold = 0.01;  // a change below it is never told, so it ends nothing
  // Of a round's change: what the job's other pairs say of it, else next to nothing.
  stats::VariancePrior noise = {0.02 * 0.02, 0.5};
};

// For a job of so many pairs: its false discovery rate, shared out over their metrics.
PairRules RulesFor(size_t pairs, size_t rounds_min, size_t rounds_max,
                   double false_discovery_rate = 0.01);

enum class PairVerdict { kGoOn, kChanged, kSame, kStatus, kUndecided };

struct PairStep {
  PairVerdict verdict = PairVerdict::kGoOn;
  std::string reason;      // for people: "same: a change of 2% would show"
  double rounds_left = 0;  // that are expected until the decision; 0 when there is one

  bool stop() const { return verdict != PairVerdict::kGoOn; }
};

// `rounds`: those that count, in their order. `timed`: of a performance test; else the status
// decides alone. A failure of both sides ends the pair at once, that of one side when a second
// round agrees; sides that fail now and then, after `rounds_min`.
PairStep DecidePair(const PairRules& rules, std::span<const RoundFigures> rounds, bool timed);

// The prior of a round's change from the changes of each pair of the job; `otherwise` as long as
// fewer than five pairs have two rounds.
stats::VariancePrior NoiseOfPairs(std::span<const std::vector<double>> changes,
                                  const stats::VariancePrior& otherwise);

}  // namespace dynbench::judge

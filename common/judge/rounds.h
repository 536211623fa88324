// The rounds of a pair (common/plan/pairs.h): which of them count. One rule for the coordinator,
// which decides whether to measure further, and for the comparison. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/judge/fingerprint.h"
#include "common/judge/metrics.h"
#include "common/plan/result.h"

namespace dynbench::judge {

// One process of a round; no result: it has none yet. `lease`: of the result; none when no worker
// brought it.
struct RoundSide {
  const plan::Result* result = nullptr;
  LeaseEpoch lease;
};

enum class RoundState {
  kOpen,       // a side has no result yet
  kCounts,     // both sides ended with a measurement or a failure, under one lease
  kDisturbed,  // something came between its sides: it counts for nothing
  kNotNeeded,  // never begun: the pair was decided, cancelled or could not be placed
};

struct RoundJudgement {
  RoundState state = RoundState::kOpen;
  std::string reason;  // of a round that does not count
};

// Disturbed: a side was lost, skipped alone or failed through the host; its sides were measured
// under different leases (so at different times, perhaps elsewhere); another lane ran in a window,
// or a process of others was on the device (kDisturbsRound of common/base/window_flags.h).
RoundJudgement JudgeRound(const RoundSide& base, const RoundSide& fresh);

// What a round says of a metric, on the scale of natural logarithms.
struct RoundDifference {
  double base = 0, fresh = 0;  // the sides' values: their difference is `change`
  double change = 0;           // log(new / base)
  // Of `change`, from how its blocks scatter; nothing: it is not of blocks.
  std::optional<double> sampling_variance;
};

// Where both sides took their samples in equally many blocks, alternating (common/base/
// pair_blocks.h), the change of a latency or the speedup is the median over the blocks of
// log(new's median / base's): neighbouring blocks share the host's pace, whatever it does in
// between. `base` and `fresh` then lie around the middle of the two values. Else it is of the
// values themselves. Nothing when a side has no figure.
std::optional<RoundDifference> DifferenceOf(Metric metric, const plan::Result& base,
                                            const plan::Result& fresh);

// What a round says of the compiled latency: log(new / base); none when a side has no figure.
struct RoundFigures {
  bool base_passed = true, fresh_passed = true;
  std::optional<double> change;
};
RoundFigures FiguresOf(const plan::Result& base, const plan::Result& fresh);

// A pair as it was measured: for `compare JOB`.
struct MeasuredRound {
  int number = 0;
  bool base_first = false;
  const Process* base = nullptr;
  const Process* fresh = nullptr;
  RoundJudgement judgement;
};

}  // namespace dynbench::judge

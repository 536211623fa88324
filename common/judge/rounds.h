// The rounds of a pair (common/plan/pairs.h): which of them count. One rule for the coordinator,
// which decides whether to measure further, and for the comparison. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/judge/fingerprint.h"
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

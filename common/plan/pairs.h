// Pair jobs (`submit --base ENV --new ENV`): what one build makes of a model against what another
// one does, measured side by side.
//
// Each row of the ordinary plan becomes a pair; a pair is measured in rounds, each of one fresh
// process of base and one of new, on one slot, their samples in alternating blocks, so that
// whatever the host does in that minute it does to both. Rounds go on until the verdict is certain
// (common/judge); the plan holds as many as there may be, and those that are not needed end as
// `skipped`.
//
//   - Order: of two successive rounds one begins with base and one with new, which of them is drawn
//     from the job's seed; so neither a warm device nor a slow drift favours a side.
//   - Zygotes: odd and even rounds are forked from different zygotes of their environment, since
//     children of one zygote share its address layout and hash seed.
//   - Spares: kSpareRounds more than the maximum are planned. A round that was disturbed counts for
//     nothing and is repeated whole, as the next one.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"

namespace dynbench::plan {

inline constexpr int kSpareRounds = 2;
inline constexpr int kRoundsLeast = 3;   // fewer processes a side say nothing of how they differ
inline constexpr int kRoundsMost = 100;  // each is two rows of the plan

inline constexpr char kBaseSide[] = "base";
inline constexpr char kNewSide[] = "new";

bool IsPairJob(const Request& request);

// Of both sides, each once; empty for another job.
std::vector<std::string> PairEnvironments(const Request& request);

// InvalidArgument: one side alone, flags of pair jobs without them, or what a pair job cannot have
// (environments, an output file, diagnostics, tests without two sides).
absl::Status CheckPairs(const Request& request);

// Replaces each row by its pair: rounds in their order, both sides of a round together in the order
// in which they are measured. What the plan skips has one round.
void MakePairs(const Request& request, std::vector<Experiment>* rows);

// The row as an experiment of its own, for a job that measures single ones again.
void LeavePair(Experiment* experiment);

}  // namespace dynbench::plan

// The common set of two sides: which processes measured the same series on both, what was left out
// and why, and which pairs may be compared. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/judge/differences.h"
#include "common/judge/fingerprint.h"
#include "common/judge/rounds.h"

namespace dynbench::judge {

struct Pair {
  plan::Experiment experiment;  // of base
  // Executions that ended with a measurement or a failure, in the order of the jobs. They belong to
  // the sides that were paired, which must live longer.
  std::vector<const Process*> base, fresh;
  std::vector<Difference> differences;
  // Both sides ran on the same host(s): what differs is the build, not the machine. How many of a
  // side's processes each had may differ (verdict.cc compares within hosts).
  bool same_host = true;
  size_t dropped_elsewhere = 0;  // processes left out since the other side has none on their host
  // Of a pair job: base[i] and fresh[i] are one round, so that their difference is compared and not
  // what came and went between rounds. `rounds`: all that were begun, those that do not count too.
  bool paired = false;
  std::vector<MeasuredRound> rounds;
  std::string ended;  // why it has no further rounds: "pair decided after 4 rounds: …"
  // Of a pair job: the process with which its worker died as often as is forgiven, for which the
  // pair was given up. It is in no round that counts, and no other may be: then `base` and `fresh`
  // are empty. Null: there is none.
  const Process* killer = nullptr;
  bool killer_is_new = false;

  bool comparable() const;
  bool measured() const { return !base.empty() && !fresh.empty(); }
};

struct LeftOut {
  plan::Experiment experiment;
  std::string reason;  // "only in base", "new: skipped: not on aarch64", "new: no result yet"
  // New was to run it (in a pair job: both sides) and has no outcome that could be judged: it was
  // lost or cancelled, or is open. Neither what a rule or the budget skipped nor what one side
  // alone has planned.
  bool owed = false;
};

struct Pairing {
  std::vector<Pair> pairs;  // in plan order of base
  std::vector<LeftOut> left_out;
};

// Rows of one series (plan::SeriesKey) are paired. Where the series differ but suite, model, mode,
// test, configuration, precision and device name one experiment on each side, the pair is made with
// the fields that differ, which makes it incomparable. Where some hosts measured both sides, only
// their processes count (a machine is the largest noise there is). Diagnostic reruns never count.
Pairing PairUp(const Side& base, const Side& fresh);

// The pairs of one pair job, from its rows of either side: rounds that count (rounds.h) give a
// process to each side. One that was given up since a side takes its worker down is a pair all the
// same.
Pairing PairRounds(const Side& base, const Side& fresh);

// "timm/mobilenetv2_100 inference performance bfloat16 default cpu".
std::string SubjectOf(const plan::Experiment& experiment);

}  // namespace dynbench::judge

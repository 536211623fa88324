// What changed in each metric of each pair, and whether it is real. One rule for table, JSON, gate
// and digest: docs/statistics.md tells it, the functions of common/stats do it. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/judge/flips.h"
#include "common/judge/metrics.h"
#include "common/judge/noise_floor.h"
#include "common/judge/pairing.h"
#include "common/stats/intervals.h"

namespace dynbench::judge {

enum class Verdict { kImproved, kRegressed, kSame, kUnknown, kIncomparable };

std::string_view ToString(Verdict verdict);  // "improved", …, as in the glossary

// Of a speedup that moved.
enum class Moved { kNone, kEager, kCompiled, kBoth };

std::string_view ToString(Moved moved);  // "", "eager", "compiled", "eager and compiled"

struct Rules {
  double threshold = 0.01;  // a change below this share is never told
  // Of all that is called a change in a run, at most this share is wrong on average; in a run in
  // which nothing changed, the probability of any alarm.
  double false_discovery_rate = 0.01;
  double confidence = 0.95;  // of the intervals that are shown
  bool allow_incomparable = false;
};

struct Judgement {
  size_t pair = 0;  // index into the pairing
  Metric metric = Metric::kSpeedup;
  Verdict verdict = Verdict::kUnknown;
  std::string reason;                       // one line for people: why this verdict
  std::optional<double> base, fresh;        // medians over processes; in the metric's unit
  std::optional<double> change;             // ratio minus 1, of geometric means over processes
  std::optional<stats::Interval> interval;  // of `change`
  std::optional<double> p, q;               // of the test, and adjusted over the run
  std::optional<double> needed;             // the change from which on the rule calls it one
  std::optional<double> noise;              // standard deviation between processes, as a share
  size_t base_processes = 0, fresh_processes = 0;
  Moved moved = Moved::kNone;
  std::string base_status, fresh_status;  // of kStatus
  // Of a status that turned: its outcomes up to now. `unsteady`: it turned so before, too, so this
  // turn is neither red nor good news (WeighHistory in compare.h).
  std::optional<Steadiness> steadiness = std::nullopt;
  bool unsteady = false;
  // A side has no other figure than disturbed ones: shown, and unknown.
  bool disturbed = false;
};

// All metrics of all pairs, a pair's metrics together and in their order. `noise` is what A/A
// runs have shown of their series and hosts; it takes part where nothing else knows better (a pair
// job has its noise in its own rounds).
std::vector<Judgement> Judge(const Pairing& pairing, const std::vector<NoiseFloor>& noise,
                             const Rules& rules);

}  // namespace dynbench::judge

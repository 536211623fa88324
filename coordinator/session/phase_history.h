// How long each phase of an experiment may take, learned from what it took: so that an attempt that
// hangs is ended after minutes, long before the experiment's own time limit. From the newest runs
// of the same series, else of the model, else of the suite; nothing without enough of them.
//
// A learned limit never decides a result. The first attempt that passes it is ended and the
// experiment runs again, elsewhere if possible, with its own limit alone: a loaded host or a build
// that compiles slower than all before is then measured, and what really hangs becomes a timeout.
// That costs one learned limit more; a series that timed out last has none, so a model that hangs
// every night pays it once.
//
// The bound is kFactor times the longest of the newest runs (a suite: times their 99 % quantile).
// Kept runs are few, so their longest is the best that is known of the tail. Beside a neighbour
// that compiles on the same cores a phase takes up to about twice as long, and on a cold host
// (imports, page cache) about twice again: hence 4. Below the floor nothing is gained by ending
// early. A model that was never measured may be larger than all of its suite, so the suite's floor
// is higher.
//
// Phase `prepare` (caches, files, a zygote's start) and `ready` (waiting for the window) last as
// long as others make them last and have no limit. Frozen spans count for none.
//
// Thread-compatible: the dispatcher's thread owns it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/plan/result.h"
#include "common/store/queries.h"
#include "coordinator/session/newest.h"
#include "coordinator/session/predictions.h"

namespace dynbench::session {

struct LearnedLimit {
  plan::Phase phase = plan::Phase::kLoad;
  int64_t limit_ms = 0;
  std::string origin;  // "4 times the longest of 9 runs of the series (12 s)"
};

class PhaseHistory {
 public:
  static constexpr int kFactor = 4;
  static constexpr int64_t kFloorMs = 60'000;
  static constexpr int64_t kSuiteFloorMs = 300'000;
  static constexpr size_t kEnoughOfSeries = 5;
  static constexpr size_t kEnoughOfModel = 8;  // other configurations and precisions
  static constexpr size_t kEnoughOfSuite = 50;

  // Oldest first; what passed.
  void Load(const std::vector<store::PastDuration>& past);
  // Of a run that passed.
  void Observe(const PredictionKeys& keys, const std::vector<plan::PhaseSpan>& phases);
  // A run of the series ended at a time limit of its own.
  void TimedOut(const PredictionKeys& keys) { hung_.insert(keys.series); }

  // Those that are below `timeout_ms`, in the order of the phases.
  std::vector<LearnedLimit> LimitsFor(const PredictionKeys& keys, int64_t timeout_ms) const;

 private:
  static constexpr size_t kPhases = static_cast<size_t>(plan::Phase::kReport) + 1;
  struct Level;
  struct Durations {
    Newest<float> seconds;
    // What they bound, once somebody has asked since the last of them came.
    mutable std::optional<LearnedLimit> learned;
  };
  using PhaseDurations = std::array<Durations, kPhases>;

  static const LearnedLimit& Learned(plan::Phase phase, const Durations& durations,
                                     const Level& level);
  void Add(const std::string& key, size_t kept, const std::vector<plan::PhaseSpan>& phases);

  std::unordered_map<std::string, PhaseDurations> durations_;
  std::set<std::string> hung_;
};

}  // namespace dynbench::session

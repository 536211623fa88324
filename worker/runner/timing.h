// The timing loop: pairs of calls, eager then compiled, device synchronised around each.
//
// One sample is the host time of `iterations_per_run` calls plus the wait for the device after the
// last one, which is upstream's definition; for one call it is the whole call and its device time.
// Reseeding, switching sides and freeing outputs are outside of the timer. Nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace dynbench::runner {

struct Side {
  std::function<void()> before;   // makes this side the one in force
  std::function<void()> call;     // timed
  std::function<void()> release;  // drops the output of the last call
  // Before each call, with the device waited for; not timed. Empty: nothing to do.
  std::function<void()> before_call = nullptr;
};

struct TimingPlan {
  int repeat = 30;
  int iterations_per_run = 1;
  std::function<void()> synchronize;
  std::function<void()> reseed;
  Side eager;
  Side compiled;
};

struct Samples {
  std::vector<int64_t> eager_ns;     // one per pair, in order
  std::vector<int64_t> compiled_ns;  // likewise
  // Minor page faults of the process (all its threads) during each, which the timer counts too.
  std::vector<int64_t> eager_faults = {};
  std::vector<int64_t> compiled_faults = {};
};

// Exceptions of a call pass through.
Samples TimePairs(const TimingPlan& plan);

}  // namespace dynbench::runner

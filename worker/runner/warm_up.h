// The warm-up of one side: what it is built from, its first call, the calls until it is warm, and
// the figures that follow. Times are CLOCK_MONOTONIC nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "worker/runner/attempt.h"
#include "worker/runner/memory.h"
#include "worker/runner/target.h"

namespace dynbench::runner {

struct WarmUp {
  int64_t begin_ns = 0;
  int64_t built_ns = 0;               // compiled ahead of time, where it is; else at once
  int64_t first_called_ns = 0;        // the first call returned
  int64_t first_synchronized_ns = 0;  // and the device was done with it
  int64_t end_ns = 0;
  MemoryReading memory;  // of the whole warm-up; of one extra call with `warm_peak_memory`
  std::unique_ptr<Target> target;
};

// Builds the side, calls it `calls` times, and adds the spans `name`_warm_up and `name`_first_call.
WarmUp WarmUpSide(AttemptRun& run, const std::function<std::unique_ptr<Target>()>& build, int calls,
                  const std::string& name);

// Metrics of both warm-ups. To be called when every frozen span before the window is known. Returns
// the seconds that compiling took: build and first call.
double ReportWarmUps(AttemptRun& run, const WarmUp& eager, const WarmUp& compiled);

}  // namespace dynbench::runner

// The window: the stretch in which this process has the device alone, and what may not change in
// it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "nlohmann/json.hpp"
#include "worker/runner/attempt.h"

namespace dynbench::runner {

// Something that was fixed when the model was compiled was different in the window.
class WindowInvalid : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thread count, gradient mode, autocast, maths flags and core masks, as they are now.
nlohmann::json ReadConditions(const AttemptRun& run);

// Asks the worker for the window and waits for it; takes note of the spans in which the worker
// stopped this process before, and of the wait itself: neither is in any duration. Ends the process
// when the worker is gone. Returns what is wrong with it (kUnfrozenLane of
// common/base/window_flags.h).
int64_t EnterWindow(AttemptRun& run);
// The same for samples: one that begins badly is given back and asked for again, twice at most.
// Returns what is wrong with the last one.
int64_t EnterQuietWindow(AttemptRun& run);
// Where others may compile while this attempt measures what the device alone decides.
bool HasOwnBenchmarkWindows(const AttemptRun& run);
// A window for that: those that are off the device go on. Left as the other one.
void EnterBenchmarkWindow(AttemptRun& run);
// In the window: what the worker sees on the device now, flags of common/base/window_flags.h. 0
// without an accelerator, and where several copies share the window.
int64_t LookAtDevice(AttemptRun& run);
// Tells the worker that the last sample is taken.
void LeaveWindow(AttemptRun& run);

// Where others compile beside this attempt: from now on whatever the compiler benchmarks is
// benchmarked in a window (shims/autotuning.py). `run` outlives the compiler.
void TakeWindowsForAutotuning(AttemptRun& run);

// Where others compile beside this attempt on an accelerator: while the compiler traces and
// generates code, which needs only the host, other attempts' kernels may be benchmarked beside it
// (shims/device_use.py). `run` outlives the compiler.
void LeaveDeviceToCompile(AttemptRun& run);

// Where others compile beside this attempt on an accelerator: until the loader first uses the
// device (shims/device_use.py) others' kernels may be benchmarked beside it. `choose` makes the
// device this process's; elsewhere it is called at once.
void StartOffDevice(AttemptRun& run, std::function<void()> choose);

// Metrics of all windows up to now.
void ReportWindows(AttemptRun& run);

// Throws WindowInvalid naming each condition that is not what it was in `fixed`, and each thread
// that may run elsewhere than on the attempt's cores.
void CheckConditions(const AttemptRun& run, const nlohmann::json& fixed);

}  // namespace dynbench::runner

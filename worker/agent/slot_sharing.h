// What may share a device with others, and what a result says about it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "common/plan/experiment.h"
#include "common/plan/result.h"
#include "worker/host/gpu_probe.h"

namespace dynbench::worker {

// Whether nothing may run beside this experiment: it benchmarks kernels all the way through
// compiling (max-autotune, coordinate descent), or it is several processes itself.
bool OwnsSlot(const plan::Experiment& experiment);

// Whether any core is that of several lanes. `lane_cores` empty: all are.
bool LanesShareCores(const std::vector<std::vector<int>>& lane_cores, int lanes);

// Whether it ended for want of memory, which may have been that of the others.
bool RanOutOfMemory(const plan::Result& result);

// Whether infrastructure ended it ("device_lost", "no_space", "download_failed", …): nothing is
// said of the experiment, which is run again elsewhere. Only the coordinator knows when it is lost.
bool InfrastructureFailed(const plan::Result& result);
// Whether that was the slot's device ("device_lost", "gpu_hang").
bool DeviceFailed(const plan::Result& result);

// kDeviceThrottled, kForeignOnDevice of common/base/window_flags.h.
int64_t FlagsOf(const GpuState& state);

// Clock, throttle reasons and foreign processes become metrics and flags of the window; a reason
// that slows measurements becomes a note.
void AddDeviceState(const std::optional<GpuState>& state, plan::Result* result);

// What was wrong with the window as the slot gave it, beside what the runner saw in it; a note for
// people where another lane ran on. 0 changes nothing.
void AddWindowFlags(int64_t flags, plan::Result* result);

}  // namespace dynbench::worker

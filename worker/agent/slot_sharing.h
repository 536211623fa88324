// What may share a device with others, and what a result says about it. Pure.
#pragma once

#include <optional>

#include "common/plan/experiment.h"
#include "common/plan/result.h"
#include "worker/host/gpu_probe.h"

namespace dynbench::worker {

// Whether nothing may run beside this experiment: it benchmarks kernels all the way through
// compiling (max-autotune, coordinate descent), or it is several processes itself.
bool OwnsSlot(const plan::Experiment& experiment);

// Whether it ended for want of memory, which may have been that of the others.
bool RanOutOfMemory(const plan::Result& result);

// Clock and throttle reasons become metrics; a reason that slows measurements becomes a note.
void AddDeviceState(const std::optional<GpuState>& state, plan::Result* result);

}  // namespace dynbench::worker

// The canaries of a window, on the host and on its device, until they are steady.
// Thread-compatible.
#pragma once

#include "worker/runner/device.h"
#include "worker/runner/steadiness.h"

namespace dynbench::runner {

// Microseconds per tiny launch; 0 without an accelerator. Half a millisecond.
double LaunchCanaryUs(const Device& device);

struct Canaries {
  CanaryReading host;
  CanaryReading launch;  // all 0 without an accelerator
};
// Both, steady or at the end of their patience (0.4 s on a host that never settles).
Canaries AwaitSteadyCanaries(const Device& device);

// Before the compiler benchmarks a kernel: waits until what the frozen lanes had queued is done, as
// far as a launch can tell (their kernels share the device with ours). Milliseconds.
void AwaitIdleDevice(const Device& device);

}  // namespace dynbench::runner

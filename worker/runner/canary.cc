#include "worker/runner/canary.h"

#include <chrono>
#include <thread>

namespace dynbench::runner {
namespace {

constexpr int kLaunches = 64;

void Pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

double LaunchCanaryUs(const Device& device) { return device.TimeTinyLaunches(kLaunches) * 1e6; }

Canaries AwaitSteadyCanaries(const Device& device) {
  device.Synchronize();
  Canaries canaries;
  canaries.host = AwaitSteady(CanaryLimits(), HostCanaryUs, Pause);
  if (device.is_accelerator()) {
    canaries.launch = AwaitSteady(
        CanaryLimits(), [&] { return LaunchCanaryUs(device); }, Pause);
  }
  return canaries;
}

void AwaitIdleDevice(const Device& device) {
  if (!device.is_accelerator()) return;
  device.Synchronize();
  // The host's own speed may flip meanwhile, so the bound is wide: a foreign time slice on the
  // device is a millisecond, a hundred launches.
  const CanaryLimits limits{.readings = 3, .most_spread = 0.5, .most_waits = 50, .pause_ms = 1};
  AwaitSteady(
      limits, [&] { return LaunchCanaryUs(device); }, Pause);
}

}  // namespace dynbench::runner

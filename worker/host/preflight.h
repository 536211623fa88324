// Small real checks of what a slot needs before anything is measured on it. Each names what it
// found and what to do. Nothing that dynbench did not start is touched: a stranger's process on the
// device is named, never ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/host/gpu_probe.h"
#include "worker/process/process_tree.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {

struct PreflightSpec {
  std::string state_dir;
  std::string device;                // torch device type
  std::string device_uuid;           // GPUs; empty: nothing of the device is looked at
  bool device_is_free = true;        // none of our own attempts is on it
  std::string python;                // of an environment, for the device's answer; empty: not asked
  std::vector<StuckProcess> stuck;   // of earlier attempts, that KILL did not reach
  Spawner spawn = &Spawn;            // starts the process that asks the device
  std::function<void(pid_t)> ended;  // it was waited for
};

// The first check that fails; empty when all pass.
struct PreflightFinding {
  std::string check;  // "process", "state", "device", "device_memory"
  std::string reason;
};

// Blocks, for a device at most two minutes. `gpus` is asked for the device and what is on it.
PreflightFinding RunPreflight(const PreflightSpec& spec, GpuProbe& gpus);

// None of these lives any more. Names those who do, with the state that the kernel shows.
absl::Status CheckStuck(const std::vector<StuckProcess>& stuck);

// A file can be written durably to the state folder and read back.
absl::Status CheckStateFolder(const std::string& state_dir);

// What a driver and the rests of a context may hold without anybody using the device.
inline constexpr int64_t kIdleDeviceBytes = int64_t{1536} << 20;
// Memory of one stranger that disturbs nobody (a monitor's context).
inline constexpr int64_t kForeignProcessBytes = int64_t{256} << 20;

// Whether the device is as good as empty. `ours` says which processes are below this worker; names
// the holder otherwise. Pure but for the names of processes.
absl::Status CheckDeviceMemory(const GpuUse& use, bool device_is_free,
                               const std::function<bool(pid_t)>& ours);

// The process is below this one.
bool IsBelowUs(pid_t pid);

// How many of those that use the device are neither `self` nor below it. One that is not in `all`
// is not counted: in a container the driver may name processes by the host's numbers, ours as well.
int ForeignProcesses(const GpuUse& use, const std::vector<ProcessStat>& all, pid_t self);

}  // namespace dynbench::worker

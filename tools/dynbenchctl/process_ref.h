// A process that somebody else may have ended and whose number may have been given away since:
// named by pid, start time and boot, checked before it is ever signalled.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::cli {

struct ProcessRef {
  pid_t pid = 0;
  int64_t start_ticks = 0;  // since boot, /proc/PID/stat
  std::string boot_id;

  bool operator==(const ProcessRef&) const = default;
};

// The reference of a live process; nullopt when there is none or it is a zombie.
std::optional<ProcessRef> Capture(pid_t pid);

// The very process is there and no zombie.
bool IsRunning(const ProcessRef& process);

// TERM to all, then KILL to those that are still there after `grace_ms`; returns when none is left.
// Processes that `process` no longer means are not touched. DeadlineExceeded: one survived KILL
// (it hangs in the kernel); names it.
absl::Status StopAll(const std::vector<ProcessRef>& processes, int64_t grace_ms);

// Starts `argv` as a daemon: own session, folder /, no input, output appended to `log_path`, no
// other descriptor of ours. Its parent is this process until that exits.
absl::StatusOr<ProcessRef> StartDaemon(const std::vector<std::string>& argv,
                                       const std::string& log_path);

}  // namespace dynbench::cli

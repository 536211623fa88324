// Starting a coordinator and workers on this machine, and waiting until they can measure.
//
// Thread-compatible. Whoever holds the LocalLock of a state folder is the only one that starts or
// stops there.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/dynbenchctl/local_state.h"

namespace dynbench::cli {

class LocalLock {
 public:
  // Makes the folder (0700) and takes its lock. FailedPrecondition: another `local` command is at
  // work there.
  static absl::StatusOr<std::unique_ptr<LocalLock>> Take(const LocalPaths& paths);
  ~LocalLock();
  LocalLock(const LocalLock&) = delete;
  LocalLock& operator=(const LocalLock&) = delete;

 private:
  explicit LocalLock(int fd) : fd_(fd) {}
  int fd_;
};

struct FleetOptions {
  std::string bin_dir;  // where dynbench-coordinator and dynbench-worker are
  int port = 7411;      // 0: any
  int workers = 1;
  std::string lanes = "auto";                       // of each worker's slots
  std::string tune;                                 // of the one worker; empty: nothing
  std::map<std::string, std::string> environments;  // name -> python, absolute
};

// Registers environments with `dynbench-worker env add`, whose messages go to our stderr.
// InvalidArgument when it refuses one (no torch, no such python).
absl::Status RegisterEnvironments(const LocalPaths& paths, const FleetOptions& options);

// Starts whatever is missing and waits until the coordinator answers and every worker is connected
// with an environment. Updates local.json after each start, so that nothing started is ever
// forgotten. On an error everything that this call started has been stopped again; the message ends
// with the last lines of the log.
absl::Status StartFleet(const LocalPaths& paths, const FleetOptions& options, LocalState* state);

// Stops all of `state`, workers first so that no attempt is lost to a vanished coordinator.
absl::Status StopFleet(const LocalState& state);

// The processes of a state that are there.
bool CoordinatorRuns(const LocalState& state);
size_t WorkersRunning(const LocalState& state);

}  // namespace dynbench::cli

// The direct children of this process that somebody owns, so that whoever sweeps up orphans (which
// become our children as well, since the worker is a subreaper) leaves them alone.
#pragma once

#include <sys/types.h>

#include <set>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {

// Thread-safe.
class OwnedProcesses {
 public:
  // Spawns and owns at once: nobody sees the child without its owner.
  absl::StatusOr<pid_t> Spawn(const SpawnOptions& options) EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    auto pid = worker::Spawn(options);
    if (pid.ok()) pids_.insert(*pid);
    return pid;
  }
  // After it was waited for.
  void Disown(pid_t pid) EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    pids_.erase(pid);
  }
  bool Owns(pid_t pid) const EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return pids_.count(pid) > 0;
  }
  std::set<pid_t> All() const EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return pids_;
  }

 private:
  mutable Mutex mu_;
  std::set<pid_t> pids_ GUARDED_BY(mu_);
};

}  // namespace dynbench::worker

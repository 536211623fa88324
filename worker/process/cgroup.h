// Control groups, version 2 only, for freezing: found in mountinfo, since version 2 may be mounted
// beside version 1. (Version 1's freezer makes SIGKILL wait, so it is never used.)
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace dynbench::worker {

// The mount point of the cgroup2 file system in the text of /proc/self/mountinfo; writable ones
// only. Pure.
std::optional<std::string> FindCgroup2Mount(std::string_view mountinfo);

// The folder of this process in that hierarchy, from the text of /proc/self/cgroup. Pure.
std::string OwnCgroup2Path(std::string_view proc_self_cgroup);

// One group, created and removed by its owner. Thread-compatible.
class Cgroup {
 public:
  // Below the worker's own group. Fails where there is no writable cgroup2 with a freezer.
  static absl::StatusOr<Cgroup> Create(const std::string& name);
  // Removes groups that a killed worker left (those without processes).
  static void RemoveLeftovers();

  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // removes the folder, which works only when nobody is in it

  // Moving a process, even to where it is, waits for all CPUs: 6 to 25 ms.
  absl::Status Add(pid_t pid);
  // Who is in it; children are where their parents were when they were forked.
  std::set<pid_t> Members() const;
  // Asks for it; AwaitFrozen waits until the kernel says that everybody is (a quarter of a
  // millisecond as a rule).
  absl::Status Freeze();
  absl::Status AwaitFrozen(int64_t limit_ms) const;
  absl::Status Thaw();
  const std::string& folder() const { return folder_; }

 private:
  explicit Cgroup(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace dynbench::worker

// Freezes and thaws the tree below a lane: through a cgroup (version 2) where one can be made, else
// by SIGSTOP walks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "worker/process/cgroup.h"

namespace dynbench::worker {

// Owns the lane's cgroup. Thread-compatible; Freeze and Thaw wait (a few milliseconds as a rule).
class TreeFreezer {
 public:
  enum class Method { kCgroup, kSignals };

  // `root` is the lane; it is never frozen itself. `name` is unique on the host.
  TreeFreezer(pid_t root, const std::string& name, bool allow_cgroup = true);

  // Puts a new child of the root under control early; what is missed here is found by Freeze.
  void Adopt(pid_t child);

  // False when somebody still runs; the tree is then thawed again.
  bool Freeze();
  void Thaw();
  Method method() const { return cgroup_ ? Method::kCgroup : Method::kSignals; }

 private:
  bool FreezeByCgroup();

  pid_t root_;
  std::optional<Cgroup> cgroup_;
};

}  // namespace dynbench::worker

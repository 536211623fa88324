// Freezes and thaws the tree below a lane: through a cgroup (version 2) where one can be made, else
// by SIGSTOP walks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "worker/process/cgroup.h"
#include "worker/process/process_tree.h"

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

  // Several trees beside one another, those in groups with one look at all processes; what Freeze
  // says of each.
  static std::vector<bool> FreezeAll(const std::vector<TreeFreezer*>& trees);

 private:
  bool FreezeByCgroup();
  // From now on, where the group does not do it; also of a tree that is frozen by half.
  bool FreezeBySignals();
  // Whether whoever of `processes` is below the root is in the group.
  bool HoldsAll(const std::vector<ProcessStat>& processes) const;

  pid_t root_;
  std::optional<Cgroup> cgroup_;
  bool checked_ = false;  // the group was found to hold the whole tree; what it forks is in it too
};

}  // namespace dynbench::worker

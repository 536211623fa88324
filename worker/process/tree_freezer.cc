#include "worker/process/tree_freezer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/time.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kFreezeLimitMs = 2'000;

}  // namespace

TreeFreezer::TreeFreezer(pid_t root, const std::string& name, bool allow_cgroup) : root_(root) {
  if (!allow_cgroup) return;
  auto group = Cgroup::Create(name);
  if (group.ok()) cgroup_.emplace(*std::move(group));
}

void TreeFreezer::Adopt(pid_t child) {
  checked_ = false;
  // A group that cannot take processes (another owner's hierarchy) is of no use.
  if (cgroup_ && !cgroup_->Add(child).ok() && ReadProcessStat(child)) cgroup_.reset();
}

bool TreeFreezer::FreezeByCgroup() {
  const MonotonicTime deadline = MonotonicNow() + kFreezeLimitMs * kNsPerMs;
  // Whoever was forked before its parent was adopted is outside; a frozen group's members fork no
  // more, so this ends. Twice without anybody: a look is no snapshot.
  int clean_looks = 0;
  while (clean_looks < 2) {
    const int64_t left_ms = (deadline - MonotonicNow()) / kNsPerMs;
    if (left_ms <= 0 || !cgroup_->Freeze().ok() || !cgroup_->AwaitFrozen(left_ms).ok()) {
      return false;
    }
    const std::set<pid_t> members = cgroup_->Members();
    ++clean_looks;
    for (const ProcessStat& process : Descendants(root_)) {
      if (members.count(process.pid) != 0) continue;
      clean_looks = 0;
      if (!cgroup_->Add(process.pid).ok() && ReadProcessStat(process.pid)) return false;
    }
  }
  return checked_ = true;
}

bool TreeFreezer::FreezeBySignals() {
  if (cgroup_ && !cgroup_->Thaw().ok()) return false;
  cgroup_.reset();
  if (StopTree(root_, kFreezeLimitMs)) return true;
  ContinueTree(root_, kFreezeLimitMs);
  return false;
}

bool TreeFreezer::HoldsAll(const std::vector<ProcessStat>& processes) const {
  const std::set<pid_t> members = cgroup_->Members();
  const auto below = Descendants(root_, processes);
  return std::all_of(below.begin(), below.end(),
                     [&](const ProcessStat& process) { return members.count(process.pid) != 0; });
}

bool TreeFreezer::Freeze() { return (cgroup_ && FreezeByCgroup()) || FreezeBySignals(); }

std::vector<bool> TreeFreezer::FreezeAll(const std::vector<TreeFreezer*>& trees) {
  // First every group is asked, so that they stop beside one another.
  const MonotonicTime deadline = MonotonicNow() + kFreezeLimitMs * kNsPerMs;
  std::vector<bool> frozen;
  for (TreeFreezer* tree : trees) {
    frozen.push_back(tree->cgroup_ && tree->cgroup_->Freeze().ok());
  }
  for (size_t i = 0; i < trees.size(); ++i) {
    const int64_t left_ms = (deadline - MonotonicNow()) / kNsPerMs;
    frozen[i] = frozen[i] && trees[i]->cgroup_->AwaitFrozen(left_ms).ok();
  }
  const bool by_group = std::find(frozen.begin(), frozen.end(), true) != frozen.end();
  const auto processes = by_group ? ListProcesses() : std::vector<ProcessStat>();
  for (size_t i = 0; i < trees.size(); ++i) {
    if (!frozen[i]) {
      frozen[i] = trees[i]->FreezeBySignals();
    } else if (!trees[i]->checked_ || !trees[i]->HoldsAll(processes)) {
      frozen[i] = trees[i]->Freeze();
    }
  }
  return frozen;
}

void TreeFreezer::Thaw() {
  if (cgroup_ && cgroup_->Thaw().ok()) return;
  ContinueTree(root_, kFreezeLimitMs);
}

}  // namespace dynbench::worker

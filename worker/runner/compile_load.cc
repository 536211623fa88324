#include "worker/runner/compile_load.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "worker/runner/core_load.h"
#include "worker/runner/disturbance.h"
#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

// 25 ticks of each core: one that is charged to the wrong side is 4 %.
constexpr double kShortestS = 0.25;

bool MayRunOn(pid_t pid, const std::vector<int>& cores) {
  cpu_set_t allowed;
  if (sched_getaffinity(pid, sizeof allowed, &allowed) != 0) return false;
  return std::any_of(cores.begin(), cores.end(),
                     [&](int core) { return CPU_ISSET(core, &allowed); });
}

}  // namespace

pid_t Ancestor(const std::map<pid_t, ProcessTime>& all, pid_t pid, int generations) {
  for (; generations > 0; --generations) {
    const auto found = all.find(pid);
    if (found == all.end()) return 0;
    pid = found->second.parent;
  }
  return pid;
}

int64_t TreeTicks(const std::map<pid_t, ProcessTime>& all, const OwnTree& tree) {
  std::set<pid_t> members = Below(all, tree.root);
  if (tree.with_root) members.insert(tree.root);
  int64_t ticks = 0;
  for (const pid_t pid : members) {
    const auto found = all.find(pid);
    if (found != all.end()) ticks += found->second.ticks + found->second.waited_ticks;
  }
  return ticks;
}

bool Disturbed(const CompileLook& look) {
  return look.seconds >= kShortestS && look.foreign_share > kMostForeignShare;
}

std::string ToString(const CompileLook& look) {
  char share[80];
  std::snprintf(share, sizeof share, "others had %.0f %% of its cores while it compiled",
                look.foreign_share * 100);
  return share + (look.busiest.empty() ? "" : ", busiest " + look.busiest);
}

CompileLoad::CompileLoad(std::vector<int> cores, const OwnTree& own)
    : cores_(std::move(cores)), own_(own), begin_(Read()) {}

CompileLoad::Reading CompileLoad::Read() const {
  Reading reading;
  if (cores_.empty()) return reading;
  reading.processes = ProcessTimes("/proc", 0);
  std::ifstream file("/proc/stat");
  std::stringstream text;
  text << file.rdbuf();
  reading.busy_ns = BusyNs(text.str(), cores_);
  reading.at_ns = NowNs();
  return reading;
}

std::optional<CompileLook> CompileLoad::Look() const {
  if (cores_.empty()) return std::nullopt;
  Reading end = Read();
  const int64_t ns_per_tick = 1'000'000'000 / std::max<int64_t>(sysconf(_SC_CLK_TCK), 1);
  const int64_t own_ns =
      (TreeTicks(end.processes, own_) - TreeTicks(begin_.processes, own_)) * ns_per_tick;
  const auto wall_ns = static_cast<double>(end.at_ns - begin_.at_ns);
  CompileLook look;
  look.seconds = wall_ns / 1e9;
  const auto foreign_ns = static_cast<double>(end.busy_ns - begin_.busy_ns - own_ns);
  const double whole_ns = wall_ns * static_cast<double>(cores_.size());
  if (whole_ns > 0) look.foreign_share = std::clamp(foreign_ns / whole_ns, 0.0, 1.0);
  std::set<pid_t> ours = Below(end.processes, own_.root);
  ours.insert(own_.root);
  std::erase_if(end.processes, [&](const auto& process) {
    return ours.count(process.first) > 0 || !MayRunOn(process.first, cores_);
  });
  look.busiest = Busiest(begin_.processes, end.processes);
  return look;
}

}  // namespace dynbench::runner

#include "worker/process/owned_mark.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/time.h"

namespace dynbench::worker {
namespace {

void Pause(int64_t ns) {
  const timespec pause{0, ns};
  nanosleep(&pause, nullptr);
}

std::string EnvironOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/environ"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Lives(const ProcessStat& process) {
  return process.state != 'Z' && process.state != 'X' && process.state != 'x';
}

}  // namespace

std::string OwnerPrefix(std::string_view worker_id) {
  return absl::StrCat(std::string(worker_id), "/");
}

std::string OwnerMark(std::string_view worker_id, int64_t process_start_unix_ms) {
  return absl::StrCat(OwnerPrefix(worker_id), process_start_unix_ms);
}

bool HasOwner(std::string_view environ_text, std::string_view prefix) {
  const std::string entry = absl::StrCat(kOwnerVariable, "=", std::string(prefix));
  for (size_t at = 0; at < environ_text.size();) {
    size_t end = environ_text.find('\0', at);
    if (end == std::string_view::npos) end = environ_text.size();
    if (environ_text.substr(at, entry.size()) == entry) return true;
    at = end + 1;
  }
  return false;
}

std::vector<ProcessStat> ProcessesOfOwner(const std::string& prefix) {
  const std::vector<ProcessStat> all = ListProcesses();
  std::map<pid_t, pid_t> parent_of;
  std::multimap<pid_t, const ProcessStat*> by_parent;
  for (const ProcessStat& process : all) {
    parent_of[process.pid] = process.parent;
    by_parent.emplace(process.parent, &process);
  }
  std::set<pid_t> seen;  // first those that are never touched
  for (pid_t pid = getpid(); pid > 0 && seen.insert(pid).second;) pid = parent_of[pid];
  std::vector<ProcessStat> found;
  std::vector<const ProcessStat*> todo;
  for (const ProcessStat& process : all) {
    if (seen.count(process.pid) == 0 && HasOwner(EnvironOf(process.pid), prefix)) {
      todo.push_back(&process);
    }
  }
  for (size_t i = 0; i < todo.size(); ++i) {
    const ProcessStat& process = *todo[i];
    if (!seen.insert(process.pid).second) continue;
    if (Lives(process)) found.push_back(process);
    for (auto [it, end] = by_parent.equal_range(process.pid); it != end; ++it) {
      todo.push_back(it->second);
    }
  }
  return found;
}

int EndProcessesOfOwner(const std::string& prefix, int64_t lanes_ms) {
  const MonotonicTime until = MonotonicNow() + lanes_ms * kNsPerMs;
  while (!ProcessesOfOwner(prefix).empty() && MonotonicNow() < until) Pause(20 * kNsPerMs);
  return KillProcessesOfOwner(prefix);
}

int KillProcessesOfOwner(const std::string& prefix, int64_t give_up_ms) {
  std::set<std::pair<pid_t, uint64_t>> signalled;
  const MonotonicTime give_up = MonotonicNow() + give_up_ms * kNsPerMs;
  for (int empty_walks = 0; empty_walks < 2;) {
    const std::vector<ProcessStat> living = ProcessesOfOwner(prefix);
    for (const ProcessStat& process : living) {
      if (SignalProcess(process, SIGKILL)) signalled.insert({process.pid, process.start_ticks});
    }
    empty_walks = living.empty() ? empty_walks + 1 : 0;
    if (MonotonicNow() > give_up) break;
    if (empty_walks < 2) Pause(2 * kNsPerMs);
  }
  return static_cast<int>(signalled.size());
}

}  // namespace dynbench::worker

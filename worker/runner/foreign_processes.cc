#include "worker/runner/foreign_processes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace dynbench::runner {
namespace {

constexpr size_t kNamed = 3;
// proc(5): ppid is field 4, utime to cstime are 14 to 17; the name before field 3 may hold blanks.
constexpr int kFieldsBetween = 9;

}  // namespace

std::map<pid_t, ProcessTime> ProcessTimes(const std::string& proc, pid_t self) {
  std::map<pid_t, ProcessTime> times;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(proc, ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == self) continue;
    std::ifstream in(entry.path() / "stat");
    std::string line;
    if (!std::getline(in, line)) continue;  // it has just ended
    const size_t open = line.find('('), close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) continue;
    std::istringstream fields(line.substr(close + 1));
    std::string skipped;
    pid_t parent = 0;
    fields >> skipped >> parent;
    for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
    int64_t user = 0, system = 0, waited_user = 0, waited_system = 0;
    if (!(fields >> user >> system >> waited_user >> waited_system)) continue;
    times[pid] = {line.substr(open + 1, close - open - 1), user + system, parent,
                  waited_user + waited_system};
  }
  return times;
}

std::string Busiest(const std::map<pid_t, ProcessTime>& before,
                    const std::map<pid_t, ProcessTime>& after) {
  std::vector<std::pair<int64_t, std::string>> worked;
  for (const auto& [pid, now] : after) {
    const auto then = before.find(pid);
    const bool same = then != before.end() && then->second.name == now.name;
    const int64_t ticks = now.ticks - (same ? then->second.ticks : 0);
    if (ticks > 0) worked.emplace_back(ticks, now.name + " (pid " + std::to_string(pid) + ")");
  }
  std::sort(worked.begin(), worked.end(), std::greater<>());
  std::string text;
  for (size_t i = 0; i < std::min(worked.size(), kNamed); ++i) {
    text += (text.empty() ? "" : ", ") + worked[i].second;
  }
  return text;
}

std::set<pid_t> Below(const std::map<pid_t, ProcessTime>& all, pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : all) children.emplace(process.parent, pid);
  std::set<pid_t> below;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto it = first; it != last; ++it) {
      if (it->second != root && below.insert(it->second).second) open.push_back(it->second);
    }
  }
  return below;
}

}  // namespace dynbench::runner

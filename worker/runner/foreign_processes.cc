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
// proc(5): utime and stime are fields 14 and 15; the name before field 3 may hold blanks.
constexpr int kFieldsBetween = 11;

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
    for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
    int64_t user = 0, system = 0;
    if (!(fields >> user >> system)) continue;
    times[pid] = {line.substr(open + 1, close - open - 1), user + system};
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

}  // namespace dynbench::runner

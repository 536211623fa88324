#include "worker/runner/core_load.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

int64_t OwnNs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string StatNow() {
  std::ifstream file("/proc/stat");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "cpu7" -> 7; none: the line is of something else, or of all cores.
std::optional<int> CoreOf(const std::string& name) {
  if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) return std::nullopt;
  return std::stoi(name.substr(3));
}

}  // namespace

int64_t BusyNs(const std::string& proc_stat, const std::vector<int>& cores) {
  static const int64_t ns_per_tick = 1'000'000'000 / std::max<int64_t>(sysconf(_SC_CLK_TCK), 1);
  std::istringstream lines(proc_stat);
  std::string line;
  int64_t ticks = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const std::optional<int> core = CoreOf(name);
    if (!core || std::find(cores.begin(), cores.end(), *core) == cores.end()) continue;
    int64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, stolen = 0;
    words >> user >> nice >> system >> idle >> wait >> irq >> soft >> stolen;
    ticks += user + nice + system + irq + soft + stolen;
  }
  return ticks * ns_per_tick;
}

std::vector<int> OtherCores(const std::string& proc_stat, const std::vector<int>& cores) {
  std::istringstream lines(proc_stat);
  std::string line;
  std::vector<int> others;
  while (std::getline(lines, line)) {
    const std::optional<int> core = CoreOf(line.substr(0, line.find(' ')));
    if (core && std::find(cores.begin(), cores.end(), *core) == cores.end()) {
      others.push_back(*core);
    }
  }
  return others;
}

CoreLoad::CoreLoad(std::vector<int> cores)
    : cores_(std::move(cores)),
      begin_ns_(NowNs()),
      begin_stat_(StatNow()),
      busy_ns_(BusyNs(begin_stat_, cores_)),
      own_ns_(OwnNs()) {}

double CoreLoad::ForeignShare() const {
  if (cores_.empty()) return 0;
  const auto busy = static_cast<double>(BusyNs(StatNow(), cores_) - busy_ns_);
  const auto own = static_cast<double>(OwnNs() - own_ns_);
  const double whole =
      static_cast<double>(NowNs() - begin_ns_) * static_cast<double>(cores_.size());
  // The account is in ticks: a process that ran a little less than one is charged for a whole one.
  return whole <= 0 ? 0 : std::clamp((busy - own) / whole, 0.0, 1.0);
}

std::optional<double> CoreLoad::OtherCoresShare() const {
  const std::vector<int> others = OtherCores(begin_stat_, cores_);
  if (cores_.empty() || others.empty()) return std::nullopt;
  const auto busy = static_cast<double>(BusyNs(StatNow(), others) - BusyNs(begin_stat_, others));
  const double whole =
      static_cast<double>(NowNs() - begin_ns_) * static_cast<double>(others.size());
  return whole <= 0 ? 0 : std::clamp(busy / whole, 0.0, 1.0);
}

}  // namespace dynbench::runner

#include "worker/runner/core_clocks.h"

#include <fstream>
#include <map>

namespace dynbench::runner {
namespace {

std::optional<int64_t> ReadNumber(const std::string& path) {
  std::ifstream in(path);
  int64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

CoreClocks ReadCoreClocks(const std::string& root, const std::vector<int>& cores) {
  CoreClocks clocks;
  double khz = 0;
  int with_clock = 0;
  std::map<int64_t, int64_t> packages;
  for (const int core : cores) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(core);
    if (const auto clock = ReadNumber(folder + "/cpufreq/scaling_cur_freq")) {
      khz += static_cast<double>(*clock);
      ++with_clock;
    }
    const std::string throttle = folder + "/thermal_throttle/";
    const auto of_core = ReadNumber(throttle + "core_throttle_count");
    if (!of_core) continue;
    clocks.throttles = clocks.throttles.value_or(0) + *of_core;
    const auto package = ReadNumber(folder + "/topology/physical_package_id");
    packages[package.value_or(0)] = ReadNumber(throttle + "package_throttle_count").value_or(0);
  }
  if (with_clock > 0) clocks.mhz = khz / with_clock / 1e3;
  for (const auto& [package, count] : packages) *clocks.throttles += count;
  return clocks;
}

}  // namespace dynbench::runner

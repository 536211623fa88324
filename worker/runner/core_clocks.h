// Clock and throttling of cores, as the kernel tells them (cpufreq, thermal_throttle); virtual
// machines tell neither. Needs neither torch nor Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dynbench::runner {

struct CoreClocks {
  std::optional<double> mhz;         // mean of the cores at this moment
  std::optional<int64_t> throttles;  // since boot: of the cores and, once each, of their packages
};

// `root` is "" on a real host; tests give a folder that holds sys/. No cores: nothing is known.
CoreClocks ReadCoreClocks(const std::string& root, const std::vector<int>& cores);

}  // namespace dynbench::runner

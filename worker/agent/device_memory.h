// How much device memory experiments needed before, so that lanes are filled with what fits. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/plan/experiment.h"
#include "common/plan/result.h"

namespace dynbench::worker {

// Thread-compatible; knows what its worker ran since it started.
class DeviceMemory {
 public:
  // A context of the driver and what the allocator keeps beside the peak.
  static constexpr int64_t kOverheadBytes = int64_t{2} << 30;

  void Learn(const plan::Experiment& experiment, const plan::Metrics& metrics);

  // Whether `next` can begin beside `running` on a device of `capacity_bytes`. What was never seen
  // is assumed to fit: one that does not runs again alone.
  bool Fits(const plan::Experiment& next, const std::vector<const plan::Experiment*>& running,
            int64_t capacity_bytes) const;

 private:
  static std::string Key(const plan::Experiment& experiment);
  int64_t Needs(const plan::Experiment& experiment) const;  // 0: not known

  std::map<std::string, int64_t> needs_;
};

}  // namespace dynbench::worker

#include "worker/agent/device_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynbench::worker {

// What decides the size; a backend changes it by far less than the mode or the batch.
std::string DeviceMemory::Key(const plan::Experiment& e) {
  return absl::StrCat(e.suite, "/", e.model, "/", std::string(plan::ToString(e.mode)), "/",
                      std::string(plan::ToString(e.effective_precision)), "/", e.batch_size);
}

void DeviceMemory::Learn(const plan::Experiment& experiment, const plan::Metrics& metrics) {
  const double peak = std::max(metrics.eager_peak_memory_bytes.value_or(0),
                               metrics.compiled_peak_memory_bytes.value_or(0));
  if (peak <= 0) return;
  int64_t& known = needs_[Key(experiment)];
  known = std::max(known, static_cast<int64_t>(peak) + kOverheadBytes);
}

int64_t DeviceMemory::Needs(const plan::Experiment& experiment) const {
  const auto it = needs_.find(Key(experiment));
  return it == needs_.end() ? 0 : it->second;
}

bool DeviceMemory::Fits(const plan::Experiment& next,
                        const std::vector<const plan::Experiment*>& running,
                        int64_t capacity_bytes) const {
  if (capacity_bytes <= 0) return true;
  int64_t sum = Needs(next);
  for (const plan::Experiment* one : running) sum += Needs(*one);
  return sum <= capacity_bytes;
}

}  // namespace dynbench::worker

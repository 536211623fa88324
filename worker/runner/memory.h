// Memory of one phase, in both meanings: upstream's and ours. Bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "worker/runner/device.h"

namespace dynbench::runner {

struct MemoryReading {
  // Upstream's: on an accelerator the allocator's peak since the phase began, on a CPU the resident
  // size now (no peak, and with everything that was there before).
  std::optional<double> upstream_bytes;
  // Ours: the phase's own peak less what was there when it began.
  std::optional<double> phase_peak_bytes;
};

// Measures from its construction to Read(). One at a time: the kernel keeps one peak a process.
class PhaseMemory {
 public:
  explicit PhaseMemory(const Device& device);
  MemoryReading Read() const;

 private:
  const Device& device_;
  std::optional<int64_t> baseline_bytes_;
};

// Of this process, from /proc/self/status; -1 when it cannot be read.
int64_t ResidentBytes();      // VmRSS
int64_t ResidentPeakBytes();  // VmHWM
// Sets VmHWM back to VmRSS. False where the kernel does not let us.
bool ResetResidentPeak();

}  // namespace dynbench::runner

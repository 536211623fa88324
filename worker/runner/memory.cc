#include "worker/runner/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace dynbench::runner {
namespace {

int64_t StatusFieldBytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, name.size(), name) == 0) return std::stoll(line.substr(name.size())) * 1024;
  }
  return -1;
}

}  // namespace

int64_t ResidentBytes() { return StatusFieldBytes("VmRSS:"); }
int64_t ResidentPeakBytes() { return StatusFieldBytes("VmHWM:"); }

bool ResetResidentPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

PhaseMemory::PhaseMemory(const Device& device) : device_(device) {
  if (device_.is_accelerator()) {
    device_.ResetMemory();
    baseline_bytes_ = device_.AllocatedBytes();
  } else if (ResetResidentPeak()) {
    baseline_bytes_ = ResidentBytes();
  }
}

MemoryReading PhaseMemory::Read() const {
  MemoryReading reading;
  std::optional<int64_t> peak;
  if (device_.is_accelerator()) {
    peak = device_.AllocatedPeakBytes();
    if (peak) reading.upstream_bytes = static_cast<double>(*peak);
  } else {
    peak = ResidentPeakBytes();
    reading.upstream_bytes = static_cast<double>(ResidentBytes());
  }
  if (peak && baseline_bytes_) {
    reading.phase_peak_bytes = static_cast<double>(std::max<int64_t>(*peak - *baseline_bytes_, 0));
  }
  return reading;
}

}  // namespace dynbench::runner

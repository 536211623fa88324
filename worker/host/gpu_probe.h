// Which GPUs this host has. An interface, so that the inventory knows no vendor; NVML, loaded at
// run time, is its first implementation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench::worker {

struct Gpu {
  int index = 0;  // among those that this process may use: what torch calls it
  std::string uuid;
  std::string name;
  std::string pci_bus_id;
  int64_t memory_bytes = 0;
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  // Empty where there is no driver: that is never an error.
  virtual std::vector<Gpu> List() = 0;
};

std::unique_ptr<GpuProbe> MakeNvmlProbe();

// Keeps what $CUDA_VISIBLE_DEVICES allows, in its order, and renumbers. `visible` null: all.
// Entries are indices or UUIDs (or beginnings of UUIDs); the first entry that names nothing ends
// the list, as the driver has it. Pure.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& all, const char* visible);

}  // namespace dynbench::worker

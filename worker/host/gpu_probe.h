// Which GPUs this host has. An interface, so that the inventory knows no vendor; NVML, loaded at
// run time, is its first implementation.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
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

// A process with a context on a GPU, as the driver names it.
struct GpuProcess {
  pid_t pid = 0;
  int64_t used_bytes = 0;
};
struct GpuUse {
  int64_t used_bytes = 0;  // by everybody, the driver included
  std::vector<GpuProcess> processes;
};

// How a GPU runs at this moment.
struct GpuState {
  double clock_mhz = 0;  // of its multiprocessors
  int64_t throttle_reasons =
      0;  // bits of nvmlClocksEventReasons; idleness and wanted clocks left out
  // Processes on it that are not below this worker; nothing where the driver does not say.
  std::optional<int> foreign_processes = std::nullopt;
};

// Empty words where there is no driver, or it does not say.
struct DriverVersions {
  std::string driver;  // "550.54.15"
  std::string cuda;    // the newest that it runs: "12.4"
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  virtual DriverVersions Versions() { return {}; }
  // Empty where there is no driver: that is never an error.
  virtual std::vector<Gpu> List() = 0;
  // Who uses this GPU now; nothing where the driver does not say.
  virtual std::optional<GpuUse> Use(const std::string& uuid) = 0;
  // Nothing where the driver does not say. Microseconds after the first call.
  virtual std::optional<GpuState> State(const std::string& /*uuid*/) { return std::nullopt; }
};

std::unique_ptr<GpuProbe> MakeNvmlProbe();

// Keeps what $CUDA_VISIBLE_DEVICES allows, in its order, and renumbers. `visible` null: all.
// Entries are indices or UUIDs (or beginnings of UUIDs); the first entry that names nothing ends
// the list, as the driver has it. Pure.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& all, const char* visible);

}  // namespace dynbench::worker

// What this process may use of its host: sockets, cores and their SMT siblings inside the affinity
// mask and the cgroup's CPU set, memory under the cgroup's limits, GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "worker/host/gpu_probe.h"

namespace dynbench::worker {

struct Core {
  int socket = 0;
  std::vector<int> cpus;  // logical CPUs (SMT siblings) that are allowed, sorted
};

// Plain data.
struct Inventory {
  std::string host;
  std::string kernel;
  std::string arch;  // "x86_64"
  std::string cpu_model;
  int sockets = 0;                 // that have an allowed core
  std::vector<Core> cores;         // physical cores, in order of their first CPU
  int64_t memory_bytes = 0;        // of the machine
  int64_t memory_limit_bytes = 0;  // the smaller of that and the cgroup's limits
  std::vector<Gpu> gpus;
  DriverVersions driver;
  std::map<std::string, std::string> settings;  // see host_settings.h

  std::vector<int> AllowedCpus() const;  // sorted
};

Inventory TakeInventory(GpuProbe& gpus);

// Hello.inventory_json: {"schema":"dynbench.inventory/1", host, kernel, arch, cpu_model, sockets,
// physical_cores, cpus: "0-3", siblings: ["0,2", …], memory_bytes, memory_limit_bytes, driver,
// cuda, settings: {…}, gpus: […]}.
nlohmann::json ToJson(const Inventory& inventory);

// What jobs may ask for (`--require KEY=VALUE`): "host", "kernel", "arch", "cpu", and of GPUs "gpu"
// and, where the driver says it, "driver" and "cuda".
std::map<std::string, std::string> FoundLabels(const Inventory& inventory);

// The smallest memory limit on the way from a process's groups up to the roots, or 0 for none.
// `root` is "" on a real host; tests give a folder that holds proc/ and sys/.
int64_t CgroupMemoryLimit(const std::string& root);

}  // namespace dynbench::worker

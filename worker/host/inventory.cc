#include "worker/host/inventory.h"

#include <hwloc.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "worker/host/core_set.h"
#include "worker/host/host_settings.h"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string CpuModel() {
  for (const std::string& line : Split(ReadText("/proc/cpuinfo"), '\n')) {
    if (!absl::StartsWith(line, "model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::set<int> AffinityMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::set<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
  }
  return cpus;
}

// The cores of the loaded topology that `allowed` leaves; hwloc has already taken out what the
// cgroup's CPU set forbids.
std::vector<Core> ReadCores(hwloc_topology_t topology, const std::set<int>& allowed) {
  std::vector<Core> cores;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, i);
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    Core core;
    core.socket = package != nullptr ? static_cast<int>(package->logical_index) : 0;
    for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0;
         cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
      if (allowed.count(cpu) > 0) core.cpus.push_back(cpu);
    }
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  return cores;
}

// Reads the limit files from `folder` up to (and with) `top`; the smallest value, 0 for none.
int64_t SmallestLimit(const std::string& top, std::string path, const std::string& file) {
  int64_t smallest = 0;
  while (true) {
    int64_t limit = 0;
    std::string text = ReadText(top + path + "/" + file);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    // "max", or a number near 2^63 in version 1, is no limit.
    if (absl::SimpleAtoi(text, &limit) && limit > 0 && limit < (int64_t{1} << 60)) {
      smallest = smallest == 0 ? limit : std::min(smallest, limit);
    }
    if (path.empty() || path == "/") return smallest;
    path.resize(path.rfind('/'));
  }
}

// The mount point of version 1's memory controller, or of version 2; empty when there is none.
std::string MountPoint(const std::string& mountinfo, bool version2) {
  for (const std::string& line : Split(mountinfo, '\n')) {
    const std::vector<std::string> halves = absl::StrSplit(line, " - ");
    if (halves.size() != 2) continue;
    const std::vector<std::string> fields = absl::StrSplit(halves[0], ' ');
    const std::vector<std::string> super = absl::StrSplit(halves[1], ' ');
    if (fields.size() < 5 || super.size() < 3) continue;
    const std::vector<std::string> options = absl::StrSplit(super[2], ',');
    const bool memory = std::find(options.begin(), options.end(), "memory") != options.end();
    if (version2 ? super[0] == "cgroup2" : super[0] == "cgroup" && memory) return fields[4];
  }
  return "";
}

}  // namespace

int64_t CgroupMemoryLimit(const std::string& root) {
  const std::string mountinfo = ReadText(root + "/proc/self/mountinfo");
  int64_t smallest = 0;
  for (const std::string& line : Split(ReadText(root + "/proc/self/cgroup"), '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const bool version2 = fields[1].empty();
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (!version2 &&
        std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) {
      continue;
    }
    const std::string mount = MountPoint(mountinfo, version2);
    if (mount.empty()) continue;
    const int64_t limit = SmallestLimit(root + mount, fields[2] == "/" ? "" : fields[2],
                                        version2 ? "memory.max" : "memory.limit_in_bytes");
    if (limit > 0) smallest = smallest == 0 ? limit : std::min(smallest, limit);
  }
  return smallest;
}

std::vector<int> Inventory::AllowedCpus() const {
  std::set<int> cpus;
  for (const Core& core : cores) cpus.insert(core.cpus.begin(), core.cpus.end());
  return {cpus.begin(), cpus.end()};
}

Inventory TakeInventory(GpuProbe& gpus) {
  Inventory inventory;
  utsname name{};
  uname(&name);
  inventory.host = name.nodename;
  inventory.kernel = name.release;
  inventory.arch = name.machine;
  inventory.cpu_model = CpuModel();
  const std::set<int> allowed = AffinityMask();
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) == 0) {
    if (hwloc_topology_load(topology) == 0) inventory.cores = ReadCores(topology, allowed);
    hwloc_topology_destroy(topology);
  }
  if (inventory.cores.empty()) {  // a host that hides its topology
    for (const int cpu : allowed) inventory.cores.push_back({0, {cpu}});
  }
  std::sort(inventory.cores.begin(), inventory.cores.end(),
            [](const Core& a, const Core& b) { return a.cpus[0] < b.cpus[0]; });
  std::set<int> sockets;
  for (const Core& core : inventory.cores) sockets.insert(core.socket);
  inventory.sockets = static_cast<int>(sockets.size());
  inventory.memory_bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  const int64_t limit = CgroupMemoryLimit("");
  inventory.memory_limit_bytes =
      limit > 0 ? std::min(limit, inventory.memory_bytes) : inventory.memory_bytes;
  inventory.settings = ReadHostSettings("");
  inventory.gpus = VisibleGpus(gpus.List(), getenv("CUDA_VISIBLE_DEVICES"));
  if (!inventory.gpus.empty()) inventory.driver = gpus.Versions();
  return inventory;
}

nlohmann::json ToJson(const Inventory& inventory) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const Gpu& gpu : inventory.gpus) {
    gpus.push_back({{"index", gpu.index},
                    {"uuid", gpu.uuid},
                    {"name", gpu.name},
                    {"pci_bus_id", gpu.pci_bus_id},
                    {"memory_bytes", gpu.memory_bytes}});
  }
  nlohmann::json siblings = nlohmann::json::array();
  for (const Core& core : inventory.cores) siblings.push_back(FormatCoreSet(core.cpus));
  return {{"schema", "dynbench.inventory/1"},
          {"host", inventory.host},
          {"kernel", inventory.kernel},
          {"arch", inventory.arch},
          {"cpu_model", inventory.cpu_model},
          {"sockets", inventory.sockets},
          {"physical_cores", inventory.cores.size()},
          {"cpus", FormatCoreSet(inventory.AllowedCpus())},
          {"siblings", siblings},
          {"memory_bytes", inventory.memory_bytes},
          {"memory_limit_bytes", inventory.memory_limit_bytes},
          {"driver", inventory.driver.driver},
          {"cuda", inventory.driver.cuda},
          {"settings", inventory.settings},
          {"gpus", gpus}};
}

std::map<std::string, std::string> FoundLabels(const Inventory& inventory) {
  std::map<std::string, std::string> labels = {{"host", inventory.host},
                                               {"kernel", inventory.kernel},
                                               {"arch", inventory.arch},
                                               {"cpu", inventory.cpu_model}};
  if (!inventory.gpus.empty()) labels["gpu"] = inventory.gpus.front().name;
  if (!inventory.driver.driver.empty()) labels["driver"] = inventory.driver.driver;
  if (!inventory.driver.cuda.empty()) labels["cuda"] = inventory.driver.cuda;
  return labels;
}

}  // namespace dynbench::worker

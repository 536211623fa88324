#include "worker/host/gpu_probe.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

// The few declarations of NVML that are used, so that its headers are not needed to build.
using NvmlDevice = struct NvmlDeviceOpaque*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlPci {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};
constexpr int kNvmlSuccess = 0;
constexpr unsigned long long kNvmlUnknown = ~0ULL;
constexpr unsigned kProcessesAtMost = 256;

// nvmlClockType: the multiprocessors.
constexpr int kNvmlClockSm = 1;
// nvmlClocksEventReasons: idle, and clocks that somebody asked for.
constexpr unsigned long long kNvmlNoThrottle = 0x1 | 0x2;

class NvmlProbe : public GpuProbe {
 public:
  std::vector<Gpu> List() override {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    std::vector<Gpu> gpus = ListFrom(library);
    dlclose(library);
    return gpus;
  }

  DriverVersions Versions() override {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    DriverVersions versions;
    const auto init = Symbol<int()>(library, "nvmlInit_v2");
    const auto shutdown = Symbol<int()>(library, "nvmlShutdown");
    const auto driver_of = Symbol<int(char*, unsigned)>(library, "nvmlSystemGetDriverVersion");
    const auto cuda_of = Symbol<int(int*)>(library, "nvmlSystemGetCudaDriverVersion_v2");
    if (init && shutdown && init() == kNvmlSuccess) {
      char text[81] = "";
      if (driver_of && driver_of(text, sizeof text - 1) == kNvmlSuccess) versions.driver = text;
      int cuda = 0;  // 12040 is 12.4
      if (cuda_of && cuda_of(&cuda) == kNvmlSuccess && cuda > 0) {
        versions.cuda = absl::StrCat(cuda / 1000, ".", cuda % 1000 / 10);
      }
      shutdown();
    }
    dlclose(library);
    return versions;
  }

  // The library stays loaded after the first call: opening it takes longer than a clock keeps.
  std::optional<GpuState> State(const std::string& uuid) override {
    if (!asked_) {
      asked_ = true;
      void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) {
        const auto init = Symbol<int()>(library, "nvmlInit_v2");
        if (init && init() == kNvmlSuccess) kept_ = library;
      }
    }
    if (kept_ == nullptr) return std::nullopt;
    const auto handle_of =
        Symbol<int(const char*, NvmlDevice*)>(kept_, "nvmlDeviceGetHandleByUUID");
    const auto clock_of = Symbol<int(NvmlDevice, int, unsigned*)>(kept_, "nvmlDeviceGetClockInfo");
    const auto reasons_of = Symbol<int(NvmlDevice, unsigned long long*)>(
        kept_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    NvmlDevice device{};
    unsigned mhz = 0;
    unsigned long long reasons = 0;
    if (!handle_of || !clock_of || handle_of(uuid.c_str(), &device) != kNvmlSuccess ||
        clock_of(device, kNvmlClockSm, &mhz) != kNvmlSuccess) {
      return std::nullopt;
    }
    if (reasons_of) reasons_of(device, &reasons);
    return GpuState{static_cast<double>(mhz), static_cast<int64_t>(reasons & ~kNvmlNoThrottle)};
  }

  std::optional<GpuUse> Use(const std::string& uuid) override {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    std::optional<GpuUse> use = UseFrom(library, uuid);
    dlclose(library);
    return use;
  }

 private:
  static std::optional<GpuUse> UseFrom(void* library, const std::string& uuid) {
    const auto init = Symbol<int()>(library, "nvmlInit_v2");
    const auto shutdown = Symbol<int()>(library, "nvmlShutdown");
    const auto handle_of =
        Symbol<int(const char*, NvmlDevice*)>(library, "nvmlDeviceGetHandleByUUID");
    const auto memory_of = Symbol<int(NvmlDevice, NvmlMemory*)>(library, "nvmlDeviceGetMemoryInfo");
    const auto processes_of = Symbol<int(NvmlDevice, unsigned*, NvmlProcess*)>(
        library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!init || !shutdown || !handle_of || !memory_of || init() != kNvmlSuccess) {
      return std::nullopt;
    }
    std::optional<GpuUse> use;
    NvmlDevice device{};
    NvmlMemory memory{};
    if (handle_of(uuid.c_str(), &device) == kNvmlSuccess &&
        memory_of(device, &memory) == kNvmlSuccess) {
      use.emplace();
      use->used_bytes = static_cast<int64_t>(memory.used);
      std::vector<NvmlProcess> processes(kProcessesAtMost);
      unsigned count = kProcessesAtMost;
      if (processes_of && processes_of(device, &count, processes.data()) == kNvmlSuccess) {
        for (unsigned i = 0; i < count && i < kProcessesAtMost; ++i) {
          const bool known = processes[i].used != kNvmlUnknown;
          use->processes.push_back({static_cast<pid_t>(processes[i].pid),
                                    known ? static_cast<int64_t>(processes[i].used) : 0});
        }
      }
    }
    shutdown();
    return use;
  }

  static std::vector<Gpu> ListFrom(void* library) {
    const auto init = Symbol<int()>(library, "nvmlInit_v2");
    const auto shutdown = Symbol<int()>(library, "nvmlShutdown");
    const auto count_of = Symbol<int(unsigned*)>(library, "nvmlDeviceGetCount_v2");
    const auto handle_of =
        Symbol<int(unsigned, NvmlDevice*)>(library, "nvmlDeviceGetHandleByIndex_v2");
    const auto uuid_of = Symbol<int(NvmlDevice, char*, unsigned)>(library, "nvmlDeviceGetUUID");
    const auto name_of = Symbol<int(NvmlDevice, char*, unsigned)>(library, "nvmlDeviceGetName");
    const auto memory_of = Symbol<int(NvmlDevice, NvmlMemory*)>(library, "nvmlDeviceGetMemoryInfo");
    const auto pci_of = Symbol<int(NvmlDevice, NvmlPci*)>(library, "nvmlDeviceGetPciInfo_v3");
    if (!init || !shutdown || !count_of || !handle_of || !uuid_of || !name_of || !memory_of ||
        !pci_of || init() != kNvmlSuccess) {
      return {};
    }
    std::vector<Gpu> gpus;
    unsigned count = 0;
    if (count_of(&count) != kNvmlSuccess) count = 0;
    for (unsigned i = 0; i < count; ++i) {
      NvmlDevice device{};
      char uuid[96] = "", name[96] = "";
      NvmlMemory memory{};
      NvmlPci pci{};
      if (handle_of(i, &device) != kNvmlSuccess || uuid_of(device, uuid, 96) != kNvmlSuccess) {
        continue;  // a device that fell off the bus
      }
      name_of(device, name, 96);
      memory_of(device, &memory);
      pci_of(device, &pci);
      gpus.push_back(
          {static_cast<int>(i), uuid, name, pci.bus_id, static_cast<int64_t>(memory.total)});
    }
    shutdown();
    return gpus;
  }

  bool asked_ = false;
  void* kept_ = nullptr;  // initialised; never closed, the driver does so at the end

  template <typename Function>
  static Function* Symbol(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
};

const Gpu* FindGpu(const std::vector<Gpu>& all, const std::string& entry) {
  int index = -1;
  if (absl::SimpleAtoi(entry, &index)) {
    return index >= 0 && index < static_cast<int>(all.size()) ? &all[index] : nullptr;
  }
  for (const Gpu& gpu : all) {
    if (!entry.empty() && absl::StartsWith(gpu.uuid, entry)) return &gpu;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<GpuProbe> MakeNvmlProbe() { return std::make_unique<NvmlProbe>(); }

std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& all, const char* visible) {
  if (visible == nullptr) return all;
  std::vector<Gpu> kept;
  for (const std::string& raw : Split(visible, ',')) {
    const Gpu* gpu = FindGpu(all, std::string(absl::StripAsciiWhitespace(raw)));
    if (gpu == nullptr) break;
    kept.push_back(*gpu);
    kept.back().index = static_cast<int>(kept.size()) - 1;
  }
  return kept;
}

}  // namespace dynbench::worker

#include "worker/host/gpu_clocks.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace dynbench::worker {
namespace {

// The few declarations of NVML that are used, so that its headers are not needed to build.
using NvmlDevice = struct NvmlDeviceOpaque*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNoPermission = 4;
// nvmlClockType: the multiprocessors.
constexpr int kNvmlClockSm = 1;

absl::Status ErrorOf(int code, const std::string& uuid, const char* what) {
  if (code == kNvmlSuccess) return absl::OkStatus();
  const std::string text = absl::StrCat(what, " of GPU ", uuid);
  if (code == kNvmlNoPermission) {
    return absl::PermissionDeniedError(
        absl::StrCat(text,
                     ": the driver permits it to root alone; run the worker as root, or let "
                     "an administrator lock the clocks once"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(text, ": the driver refuses it (NVML error ", code, ")"));
}

class NvmlClocks : public GpuClocks {
 public:
  absl::StatusOr<int> MaxMhz(const std::string& uuid) override {
    ASSIGN_OR_RETURN(NvmlDevice device, Find(uuid));
    const auto max_of = Symbol<int(NvmlDevice, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
    unsigned mhz = 0;
    if (max_of == nullptr) return TooOld();
    RETURN_IF_ERROR(ErrorOf(max_of(device, kNvmlClockSm, &mhz), uuid, "asking the highest clock"));
    return static_cast<int>(mhz);
  }

  absl::Status Lock(const std::string& uuid, int min_mhz, int max_mhz) override {
    ASSIGN_OR_RETURN(NvmlDevice device, Find(uuid));
    const auto lock = Symbol<int(NvmlDevice, unsigned, unsigned)>("nvmlDeviceSetGpuLockedClocks");
    if (lock == nullptr) return TooOld();
    return ErrorOf(lock(device, static_cast<unsigned>(min_mhz), static_cast<unsigned>(max_mhz)),
                   uuid, "locking the clocks");
  }

  absl::Status Reset(const std::string& uuid) override {
    ASSIGN_OR_RETURN(NvmlDevice device, Find(uuid));
    const auto reset = Symbol<int(NvmlDevice)>("nvmlDeviceResetGpuLockedClocks");
    if (reset == nullptr) return TooOld();
    return ErrorOf(reset(device), uuid, "unlocking the clocks");
  }

 private:
  static absl::Status TooOld() {
    return absl::FailedPreconditionError(
        "the GPU's driver is too old to lock clocks (libnvidia-ml.so.1 has no such function)");
  }

  // Loads the library at the first call and keeps it: the driver ends a lock with nobody.
  absl::StatusOr<NvmlDevice> Find(const std::string& uuid) {
    if (library_ == nullptr) {
      void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        return absl::FailedPreconditionError(
            "the clocks of a GPU are locked through NVML, and libnvidia-ml.so.1 is not here");
      }
      library_ = library;
      const auto init = Symbol<int()>("nvmlInit_v2");
      if (init == nullptr || init() != kNvmlSuccess) {
        library_ = nullptr;
        dlclose(library);
        return absl::FailedPreconditionError("NVML does not start; is the GPU's driver loaded?");
      }
    }
    const auto handle_of = Symbol<int(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByUUID");
    NvmlDevice device{};
    if (handle_of == nullptr || handle_of(uuid.c_str(), &device) != kNvmlSuccess) {
      return absl::FailedPreconditionError(absl::StrCat("NVML knows no GPU ", uuid));
    }
    return device;
  }

  template <typename Function>
  Function* Symbol(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_ = nullptr;  // initialised; never closed, the driver does so at the end
};

}  // namespace

std::unique_ptr<GpuClocks> MakeNvmlClocks() { return std::make_unique<NvmlClocks>(); }

}  // namespace dynbench::worker

// Locking the clocks of a GPU. An interface, so that tuning knows no vendor; NVML, loaded at run
// time, is its first implementation.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::worker {

// FailedPrecondition: there is no driver, or the device cannot do it. PermissionDenied: this user
// may not. Thread-compatible.
class GpuClocks {
 public:
  virtual ~GpuClocks() = default;
  // The highest clock of its multiprocessors, MHz.
  virtual absl::StatusOr<int> MaxMhz(const std::string& uuid) = 0;
  virtual absl::Status Lock(const std::string& uuid, int min_mhz, int max_mhz) = 0;
  // Back to the driver's own rule, which is all that a driver can be asked for: what was locked
  // before it does not tell. Resetting what is not locked is no error.
  virtual absl::Status Reset(const std::string& uuid) = 0;
};

std::unique_ptr<GpuClocks> MakeNvmlClocks();

}  // namespace dynbench::worker

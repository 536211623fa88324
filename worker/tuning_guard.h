// The tuning of this worker's host for as long as it lives: what a killed predecessor left is put
// back first, then --tune is applied; the destructor puts it back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/host/claims.h"
#include "worker/host/gpu_clocks.h"
#include "worker/host/knobs.h"
#include "worker/host/tuning.h"

namespace dynbench::worker {

struct TuningRequest {
  std::string text;       // of --tune; empty: only what was left is undone
  std::string state_dir;  // made where it is missing
  std::string root;       // "" on a real host
  std::vector<int> cpus;
  std::vector<std::string> gpus;  // UUIDs
};

// Thread-compatible.
class TuningGuard {
 public:
  // Errors: InvalidArgument (--tune says something else), FailedPrecondition (this host has no such
  // setting; another worker of the host tunes it), PermissionDenied. `claims` outlives this.
  static absl::StatusOr<std::unique_ptr<TuningGuard>> Make(const TuningRequest& request,
                                                           Claims* claims);

  // What is in force, as --tune has it; empty: nothing.
  const std::string& text() const { return text_; }
  const std::vector<TuneWish>& wishes() const { return wishes_; }

 private:
  TuningGuard() = default;

  std::string text_;
  std::vector<TuneWish> wishes_;
  std::unique_ptr<GpuClocks> clocks_;
  std::unique_ptr<HostKnobs> knobs_;
  std::unique_ptr<Tuning> tuning_;  // ends first
};

}  // namespace dynbench::worker

// Frees what no registered environment needs: folders and manifests of removed ones, what a killed
// process left half made, and objects that only the store has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::worker {

struct Collected {
  std::vector<std::string> folders;  // removed, or to be removed
  int64_t objects = 0;
  int64_t object_bytes = 0;
  // Objects and manifests stayed, since an environment is being received on this host.
  bool receiving = false;
};

// Waits for whoever makes an environment. Never touches what `env add` registered, and beside
// somebody who receives one only folders. With `dry_run` only says what it would do (objects that
// the folders alone hold are not counted then).
absl::StatusOr<Collected> CollectEnvironments(const std::string& environments_dir, bool dry_run);

// Forgets an environment that dynbench made, if it is there; its folder goes with
// CollectEnvironments.
absl::Status ForgetMade(const std::string& environments_dir, const std::string& id);

}  // namespace dynbench::worker

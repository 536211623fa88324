// Where what belongs to an environment that dynbench made is, below the environments folder E:
// E/<first 32 digits of its id> (the environment), E/manifests/<id>.json, E/objects. Whoever makes
// or removes one holds the lock; whoever receives objects holds another one, which keeps them from
// being swept before an environment has them.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/environments/manifest.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

std::string FolderOfEnvironment(const std::string& environments_dir, const std::string& id);
// Where it is while it is made: beside the final place, with a longer name, so that what fits there
// (first lines of scripts) fits in the end.
std::string UnfinishedFolder(const std::string& environments_dir, const std::string& id);
std::string ManifestPath(const std::string& environments_dir, const std::string& id);

absl::Status SaveManifest(const std::string& environments_dir, const Manifest& manifest);
absl::StatusOr<Manifest> LoadManifest(const std::string& environments_dir, const std::string& id);

// Waits for another one that makes or removes an environment in this folder; the kernel frees it
// with the process. `waits` is called once if it has to wait.
absl::StatusOr<UniqueFd> LockEnvironments(const std::string& environments_dir,
                                          const std::function<void()>& waits);

// While it lives nothing that was received is swept. Waits for a sweep.
absl::StatusOr<UniqueFd> KeepReceived(const std::string& environments_dir);
// While it lives nobody receives. An empty one, without waiting: somebody does.
absl::StatusOr<UniqueFd> StopReceiving(const std::string& environments_dir);

}  // namespace dynbench::worker

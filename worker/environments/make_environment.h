// Environments that dynbench makes: built of a recipe, derived with a patch, or installed from a
// manifest and objects. Each is made in a folder beside its place, renamed when it is whole, and
// only then registered. What is there already is taken if it is what the manifest lists, else made
// again.
//
// Blocking, minutes to hours. One at a time in an environments folder (LockEnvironments). Errors
// end with the last lines of what failed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/plan/recipe.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

struct MakeOptions {
  std::string environments_dir;                // absolute
  std::function<void(std::string_view)> sink;  // the log
  bool of_fleet = false;                       // ordered by the coordinator
  // Also writes its manifest and keeps its files as objects, as a fleet needs.
  bool with_manifest = false;
};

// Wheels are read from `wheels_dir`, by file name.
absl::StatusOr<Environment> BuildEnvironment(const plan::Recipe& recipe,
                                             const std::string& wheels_dir,
                                             const MakeOptions& options);

// `base` is registered here; `patch` a unified diff. An empty name is made of the base's.
absl::StatusOr<Environment> DeriveEnvironment(const std::string& base, const std::string& patch,
                                              const std::string& name, const MakeOptions& options);

// `manifest_id`: of a manifest in E/manifests, whose objects are all there. `origin_json` says what
// it is (Environment::origin_json). FailedPrecondition: it does not fit this host.
absl::StatusOr<Environment> InstallEnvironment(const std::string& manifest_id,
                                               const std::string& name,
                                               const std::string& origin_json,
                                               const MakeOptions& options);

}  // namespace dynbench::worker

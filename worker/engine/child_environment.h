// The variables that experiments' processes get: an allow-list of the worker's own, and the launch
// profile's. Nothing else passes, so a token in the worker's environment stays there. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"

namespace dynbench::worker {

using Variables = std::map<std::string, std::string>;

// `ours`: the worker's own. `tmp_dir` becomes TMPDIR. `preload`: resolved paths for LD_PRELOAD.
Variables ChildEnvironment(const Variables& ours, const plan::LaunchProfile& profile,
                           const std::vector<std::string>& preload, const std::string& tmp_dir);

// The variables of this process.
Variables OwnEnvironment();

// Finds a profile's preload libraries in `folders`. NotFound names the library, the profile and
// where it was looked for: the loader itself would only warn, and another series be measured.
absl::StatusOr<std::vector<std::string>> ResolvePreload(const plan::LaunchProfile& profile,
                                                        const std::vector<std::string>& folders);

// Where the loader looks, and the environment's own folders.
std::vector<std::string> LibraryFolders(const std::string& torch_dir);

}  // namespace dynbench::worker

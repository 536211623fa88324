// Asks a python what it is: version, libraries, torch, packages, devices.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

// Runs `python` with a script that imports torch (10 s or more on a cold disk; limit 5 minutes).
// InvalidArgument says what is missing and what to do: not a python, no torch, no shared
// libpython to embed.
absl::StatusOr<EnvironmentFacts> ProbeEnvironment(const std::string& python);

}  // namespace dynbench::worker

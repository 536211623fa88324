// Making a Python environment known to this host's workers: probe, hash, runner, record.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

using Progress = std::function<void(const std::string&)>;

// Asks `python` what it is, compiles the runner for it (a minute; seconds where one with the same
// libraries is there) and writes the record of `environment`, of which the caller has filled in the
// name and, for one that dynbench made, id, origin, prefix and changed files. Quick when nothing
// changed since the last time.
absl::StatusOr<Environment> RegisterEnvironment(const std::string& environments_dir,
                                                Environment environment, const std::string& python,
                                                const Progress& progress);

}  // namespace dynbench::worker

// dynbench-worker env add|list|remove.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace dynbench::worker {

// Asks `python` what it is, compiles the runner for it and writes the record; progress on stderr.
// Quick when nothing changed since the last time.
absl::Status AddEnvironment(const std::string& environments_dir, const std::string& name,
                            const std::string& python);
// A table on stdout, or {"schema":"dynbench.environments/1", …}.
absl::Status ListEnvironments(const std::string& environments_dir, bool json);

}  // namespace dynbench::worker

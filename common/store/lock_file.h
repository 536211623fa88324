// The lock that keeps a second coordinator away from a database.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace dynbench::store {

// Takes an exclusive lock on `path` (created when missing) and returns its file descriptor; closing
// that, or the death of the process, frees the lock. An open-file-description lock: it also holds
// between two openers of one process. FailedPrecondition names the process that has it.
absl::StatusOr<int> TakeLockFile(const std::string& path);

}  // namespace dynbench::store

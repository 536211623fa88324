// Which file systems a database may live on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace dynbench::store {

// FailedPrecondition when `type` (f_type of statfs(2)) is a network or user-space file system,
// whose locks and shared memory SQLite's write-ahead log cannot trust. Names it and the way out.
absl::Status CheckFileSystemType(int64_t type, const std::string& path);

// The same for the file system that holds `folder`.
absl::Status CheckFileSystem(const std::string& folder);

}  // namespace dynbench::store

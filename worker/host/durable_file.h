// Files and folders of a worker that survive a crash of the process or of the machine; writing
// them is WriteFileDurably of common/base/durable_file.h.
//
// Thread-safe: no state. Errors name the path and what the system said.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/durable_file.h"

namespace dynbench::worker {

// Removes a file and makes the removal durable. A missing file is no error.
absl::Status RemoveFileDurably(const std::string& path);

// NotFound when there is no such file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Creates `path` and its parents, mode 0700. One that exists is left as it is.
absl::Status MakePrivateFolder(const std::string& path);

}  // namespace dynbench::worker

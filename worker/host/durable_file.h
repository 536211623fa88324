// Files that survive a crash of the process or of the machine.
//
// Thread-safe: no state. Errors name the path and what the system said.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::worker {

// Replaces `path` in one step: temporary file beside it, fsync, rename, fsync of the folder. After
// OK the bytes are on disk; on an error the old file is untouched.
absl::Status WriteFileDurably(const std::string& path, std::string_view bytes);

// Removes a file and makes the removal durable. A missing file is no error.
absl::Status RemoveFileDurably(const std::string& path);

// NotFound when there is no such file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Creates `path` and its parents, mode 0700. One that exists is left as it is.
absl::Status MakePrivateFolder(const std::string& path);

}  // namespace dynbench::worker

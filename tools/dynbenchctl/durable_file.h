// Replacing a file as a whole.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace dynbench::cli {

// `path` holds `bytes` afterwards, or what it held before: written beside it, synced, renamed.
// Errors name the path and the system's reason.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace dynbench::cli

// Lengths of time as people type them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace dynbench {

// "90" and "90s" are seconds; "10m", "2h", "7d" and "1.5h" go as well. InvalidArgument names
// `flag`.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text, const std::string& flag);

}  // namespace dynbench

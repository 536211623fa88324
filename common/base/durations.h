// Lengths of time as people type and read them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace dynbench {

// "90" and "90s" are seconds; "10m", "2h", "7d" and "1.5h" go as well. InvalidArgument names
// `flag`.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text, const std::string& flag);

// Nanoseconds as "45 s", "3 min 20 s", "2 h 5 min"; less than nothing is "0 s".
std::string FormatDuration(int64_t ns);

}  // namespace dynbench

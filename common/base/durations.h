// Lengths of time as people type and read them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace dynbench {

// "90" and "90s" are seconds; "10m", "2h", "7d" and "1.5h" go as well. InvalidArgument names
// `flag`.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text, const std::string& flag);

// "0.8 s", "42 s", "3 min 05 s", "2 h 10 min"; less than nothing is "0.0 s". Independent of the
// locale.
std::string FormatSeconds(double seconds);
// Likewise, of nanoseconds.
std::string FormatDuration(int64_t ns);

}  // namespace dynbench

// How far back and how much `hosts` and `doctor` look.
#pragma once

#include <cstdint>

namespace dynbench::cli {

inline constexpr char kHostsSince[] = "14d";
inline constexpr int64_t kHostsSinceMs = int64_t{14} * 24 * 3600 * 1000;
inline constexpr int64_t kHostsRows = 20'000;

}  // namespace dynbench::cli

// Time as dynbench passes it around. Pure code takes a time as an argument; only the edges call the
// clocks below.
#pragma once

#include <time.h>

#include <compare>
#include <cstdint>

namespace dynbench {

// A point on this machine's monotonic clock (CLOCK_MONOTONIC), in nanoseconds. Never leaves the
// process that read it: another process or machine has another zero.
struct MonotonicTime {
  int64_t ns = 0;

  auto operator<=>(const MonotonicTime&) const = default;
  MonotonicTime operator+(int64_t duration_ns) const { return {ns + duration_ns}; }
  int64_t operator-(MonotonicTime earlier) const { return ns - earlier.ns; }
};

// Calendar time, in milliseconds since the Unix epoch. For people and for the store; nothing is
// ever decided by subtracting two of them from different machines.
struct UnixTimeMs {
  int64_t ms = 0;

  auto operator<=>(const UnixTimeMs&) const = default;
};

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

inline MonotonicTime MonotonicNow() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return {t.tv_sec * kNsPerSecond + t.tv_nsec};
}

inline UnixTimeMs UnixNow() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return {t.tv_sec * 1000 + t.tv_nsec / kNsPerMs};
}

}  // namespace dynbench

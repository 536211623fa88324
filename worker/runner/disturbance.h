// Whether a window was quiet: what is looked at before and after its samples, and the bounds. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dynbench::runner {

// Samples are taken again when others had more than this of the measuring cores …
inline constexpr double kMostForeignShare = 0.10;
// … or a canary was slower or faster by more than this after the samples than before them.
inline constexpr double kMostCanaryChange = 0.25;
// … or its cores or its device were throttled, or a process of others was on the device.
// That often at most, and only while one pass is short: a disturbed row is kept, and flagged.
inline constexpr int kMostRepeats = 2;
inline constexpr double kLongestRepeatedS = 20;

struct WindowLook {
  double foreign_share = 0;
  double host_canary_before_us = 0, host_canary_after_us = 0;
  double launch_canary_before_us = 0, launch_canary_after_us = 0;  // 0: none
  double seconds = 0;                                              // that the samples took
  std::optional<double> host_load = std::nullopt;                  // of the other cores
  std::optional<double> cpu_clock_mhz = std::nullopt;              // after the samples
  std::optional<int64_t> cpu_throttles = std::nullopt;             // while they were taken
  int64_t told_flags = 0;    // what the worker says of the device (common/base/window_flags.h)
  std::string busiest = "";  // foreign processes, for people
};

// Flags of common/base/window_flags.h: what disturbed it; 0: nothing did.
int64_t DisturbanceFlags(const WindowLook& look);

// The same for people; empty: nothing did.
std::string Disturbance(const WindowLook& look);

// Whether nothing but the device's throttling disturbed either of two passes that followed each
// other: the model's own work draws what the device may, and a third pass would be no other.
bool ThrottledByItself(const WindowLook& before, const WindowLook& now);

// What is said of blocks that together are the samples: shares and clock are means over their time,
// throttles and seconds add up; the canaries are those before the first and after the last.
// `blocks` is not empty.
WindowLook Together(const std::vector<WindowLook>& blocks);

// Of two passes over the same samples: whether `a` was the quieter one.
bool Quieter(const WindowLook& a, const WindowLook& b);

}  // namespace dynbench::runner

// What was wrong with the window of a measurement, and with its compilation: bits of the metric
// `window_flags`. The runner, the worker and the judge share them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace dynbench {

inline constexpr int64_t kForeignLoad = 1;        // others ran on the measuring cores
inline constexpr int64_t kHostCanaryMoved = 2;    // the host's pace changed
inline constexpr int64_t kLaunchCanaryMoved = 4;  // that of launching kernels did
inline constexpr int64_t kUnfrozenLane = 8;       // another lane of the slot ran on
inline constexpr int64_t kCpuThrottled = 16;      // measuring cores were slowed by heat
inline constexpr int64_t kDeviceThrottled = 32;   // the accelerator was slowed (power, heat)
inline constexpr int64_t kForeignOnDevice = 64;   // a process of others held the accelerator
// Not of the window: others ran on the attempt's cores while the model compiled.
inline constexpr int64_t kForeignLoadCompiling = 128;

// What makes a round of a pair count for nothing: it came to one side and not to the other, and
// what it does to a figure nothing in the row can tell.
inline constexpr int64_t kDisturbsRound = kUnfrozenLane | kForeignOnDevice;

// "another lane ran on, foreign load"; empty: nothing.
inline std::string WindowFlagWords(int64_t flags) {
  constexpr struct {
    int64_t flag;
    const char* words;
  } kWords[] = {{kForeignLoad, "others ran on the measuring cores"},
                {kHostCanaryMoved, "the host's pace changed"},
                {kLaunchCanaryMoved, "the pace of launches changed"},
                {kUnfrozenLane, "another lane ran on"},
                {kCpuThrottled, "the measuring cores were throttled"},
                {kDeviceThrottled, "the device was throttled"},
                {kForeignOnDevice, "a process of others was on the device"},
                {kForeignLoadCompiling, "others ran on its cores while it compiled"}};
  std::string text;
  for (const auto& [flag, words] : kWords) {
    if ((flags & flag) != 0) text += (text.empty() ? "" : ", ") + std::string(words);
  }
  return text;
}

}  // namespace dynbench

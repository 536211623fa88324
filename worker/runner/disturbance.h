// Whether a window was quiet: what is looked at before and after its samples, and the bounds. Pure.
#pragma once

#include <string>

namespace dynbench::runner {

// Samples are taken again when others had more than this of the measuring cores …
inline constexpr double kMostForeignShare = 0.10;
// … or a canary was slower or faster by more than this after the samples than before them.
inline constexpr double kMostCanaryChange = 0.25;
// That often at most, and only while one pass is short: a disturbed row is kept, and flagged.
inline constexpr int kMostRepeats = 2;
inline constexpr double kLongestRepeatedS = 20;

struct WindowLook {
  double foreign_share = 0;
  double host_canary_before_us = 0, host_canary_after_us = 0;
  double launch_canary_before_us = 0, launch_canary_after_us = 0;  // 0: none
  double seconds = 0;                                              // that the samples took
};

// What disturbed it, for people; empty: nothing did.
std::string Disturbance(const WindowLook& look);

// Of two passes over the same samples: whether `a` was the quieter one.
bool Quieter(const WindowLook& a, const WindowLook& b);

}  // namespace dynbench::runner

#include "worker/runner/disturbance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/base/window_flags.h"

namespace dynbench::runner {
namespace {

double Change(double before, double after) {
  return before > 0 && after > 0 ? std::abs(after / before - 1) : 0;
}

std::string ChangeText(const char* which, double before, double after) {
  char text[120];
  std::snprintf(text, sizeof text, "the %s canary went from %.1f to %.1f us", which, before, after);
  return text;
}

// In multiples of the bounds, so that unlike things can be compared.
double Badness(const WindowLook& look) {
  const double canary = std::max(Change(look.host_canary_before_us, look.host_canary_after_us),
                                 Change(look.launch_canary_before_us, look.launch_canary_after_us));
  // What throttles, or is on the device, outweighs what is measured in shares.
  const bool worse =
      (DisturbanceFlags(look) & (kCpuThrottled | kDeviceThrottled | kForeignOnDevice)) != 0;
  return std::max(look.foreign_share / kMostForeignShare, canary / kMostCanaryChange) +
         (worse ? 100 : 0);
}

}  // namespace

int64_t DisturbanceFlags(const WindowLook& look) {
  int64_t flags = look.told_flags & (kDeviceThrottled | kForeignOnDevice);
  if (look.foreign_share > kMostForeignShare) flags |= kForeignLoad;
  if (Change(look.host_canary_before_us, look.host_canary_after_us) > kMostCanaryChange) {
    flags |= kHostCanaryMoved;
  }
  if (Change(look.launch_canary_before_us, look.launch_canary_after_us) > kMostCanaryChange) {
    flags |= kLaunchCanaryMoved;
  }
  if (look.cpu_throttles.value_or(0) > 0) flags |= kCpuThrottled;
  return flags;
}

std::string Disturbance(const WindowLook& look) {
  const int64_t flags = DisturbanceFlags(look);
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if ((flags & kForeignLoad) != 0) {
    char share[80];
    std::snprintf(share, sizeof share, "others had %.0f %% of the measuring cores",
                  look.foreign_share * 100);
    add(share + (look.busiest.empty() ? "" : ", busiest " + look.busiest));
  }
  if ((flags & kHostCanaryMoved) != 0) {
    add(ChangeText("host", look.host_canary_before_us, look.host_canary_after_us));
  }
  if ((flags & kLaunchCanaryMoved) != 0) {
    add(ChangeText("launch", look.launch_canary_before_us, look.launch_canary_after_us));
  }
  constexpr int64_t kInWords = kCpuThrottled | kDeviceThrottled | kForeignOnDevice;
  if ((flags & kInWords) != 0) add(WindowFlagWords(flags & kInWords));
  return text;
}

bool ThrottledByItself(const WindowLook& before, const WindowLook& now) {
  return DisturbanceFlags(before) == kDeviceThrottled && DisturbanceFlags(now) == kDeviceThrottled;
}

WindowLook Together(const std::vector<WindowLook>& blocks) {
  WindowLook sum = blocks.front();
  sum.foreign_share = sum.seconds = 0;
  double host_load = 0, clock_mhz = 0;
  int64_t throttles = 0;
  for (const WindowLook& look : blocks) {
    sum.seconds += look.seconds;
    sum.foreign_share += look.seconds * look.foreign_share;
    host_load += look.seconds * look.host_load.value_or(0);
    clock_mhz += look.seconds * look.cpu_clock_mhz.value_or(0);
    throttles += look.cpu_throttles.value_or(0);
    sum.told_flags |= look.told_flags;
  }
  if (sum.seconds > 0) {
    sum.foreign_share /= sum.seconds;
    if (sum.host_load) sum.host_load = host_load / sum.seconds;
    if (sum.cpu_clock_mhz) sum.cpu_clock_mhz = clock_mhz / sum.seconds;
  }
  if (sum.cpu_throttles) sum.cpu_throttles = throttles;
  sum.host_canary_after_us = blocks.back().host_canary_after_us;
  sum.launch_canary_after_us = blocks.back().launch_canary_after_us;
  return sum;
}

bool Quieter(const WindowLook& a, const WindowLook& b) { return Badness(a) < Badness(b); }

}  // namespace dynbench::runner

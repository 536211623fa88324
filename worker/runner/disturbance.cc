#include "worker/runner/disturbance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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
  return std::max(look.foreign_share / kMostForeignShare, canary / kMostCanaryChange);
}

}  // namespace

std::string Disturbance(const WindowLook& look) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if (look.foreign_share > kMostForeignShare) {
    char share[80];
    std::snprintf(share, sizeof share, "others had %.0f %% of the measuring cores",
                  look.foreign_share * 100);
    add(share);
  }
  if (Change(look.host_canary_before_us, look.host_canary_after_us) > kMostCanaryChange) {
    add(ChangeText("host", look.host_canary_before_us, look.host_canary_after_us));
  }
  if (Change(look.launch_canary_before_us, look.launch_canary_after_us) > kMostCanaryChange) {
    add(ChangeText("launch", look.launch_canary_before_us, look.launch_canary_after_us));
  }
  return text;
}

bool Quieter(const WindowLook& a, const WindowLook& b) { return Badness(a) < Badness(b); }

}  // namespace dynbench::runner

#include "worker/runner/steadiness.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/stats/stats.h"
#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

constexpr int kHostSteps = 200'000;

}  // namespace

CanaryReading AwaitSteady(const CanaryLimits& limits, const std::function<double()>& read,
                          const std::function<void(int)>& pause) {
  CanaryReading reading;
  while (true) {
    std::vector<double> set(limits.readings);
    for (double& one : set) one = read();
    const auto [fastest, slowest] = std::minmax_element(set.begin(), set.end());
    const double range = *slowest - *fastest;
    reading.median = stats::Median(set);
    reading.spread = reading.median > 0 ? range / reading.median : 0;
    reading.steady = reading.spread <= limits.most_spread;
    if (reading.steady || reading.waits == limits.most_waits) return reading;
    ++reading.waits;
    pause(limits.pause_ms);
  }
}

double HostCanaryUs() {
  const int64_t begin_ns = NowNs();
  // xorshift64 (Marsaglia, "Xorshift RNGs", 2003): each step needs the one before it.
  uint64_t x = 88'172'645'463'325'252ULL;
  for (int i = 0; i < kHostSteps; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  volatile const uint64_t used = x;
  (void)used;
  return static_cast<double>(NowNs() - begin_ns) / 1e3;
}

}  // namespace dynbench::runner

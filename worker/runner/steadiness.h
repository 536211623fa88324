// When a host is quiet enough to measure: small pieces of work whose time is constant then, run
// until several readings in a row agree. Needs neither torch nor Python; thread-compatible.
#pragma once

#include <functional>

namespace dynbench::runner {

struct CanaryLimits {
  int readings = 5;           // that have to agree
  double most_spread = 0.15;  // (slowest - fastest) / median of these
  int most_waits = 20;        // sets of readings that may disagree
  int pause_ms = 10;          // after each of those
};

struct CanaryReading {
  double median = 0;  // of the last set, unit of the readings
  double spread = 0;  // likewise
  int waits = 0;      // sets that did not agree before it
  bool steady = false;
};

// Takes sets of readings until one agrees or the limit is reached. `pause` waits milliseconds.
CanaryReading AwaitSteady(const CanaryLimits& limits, const std::function<double()>& read,
                          const std::function<void(int)>& pause);

// Microseconds of a fixed piece of integer work on the calling thread; a third of a millisecond on
// a core of 3 GHz, so that a time slice of somebody else shows.
double HostCanaryUs();

}  // namespace dynbench::runner

// How long an experiment waits before it is tried again after an infrastructure failure. Pure: the
// jitter comes from the arguments, so a step of the scheduler stays a function of its input.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/ids.h"

namespace dynbench::scheduler {

struct Backoff {
  int64_t first_ns = 5'000'000'000;
  int64_t factor = 4;
  int64_t limit_ns = 300'000'000'000;
};

// Between half and the whole of first * factor^(failure - 1), the limit at most. Experiments that
// failed together (a mirror that answers 429) come back spread over half of the time.
inline int64_t BackoffNs(const Backoff& backoff, ExperimentId experiment, int failure) {
  int64_t full = std::min(backoff.first_ns, backoff.limit_ns);
  for (int i = 1; i < failure && full < backoff.limit_ns; ++i) {
    full = std::min(full * backoff.factor, backoff.limit_ns);
  }
  // The finalizer of splitmix64 (Steele, Lea, Flood 2014): neighbouring ids get unlike values.
  uint64_t x = static_cast<uint64_t>(experiment.value) * 0x9e3779b97f4a7c15u +
               static_cast<uint64_t>(failure);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  const int64_t half = full / 2;
  return full - (half > 0 ? static_cast<int64_t>(x % static_cast<uint64_t>(half + 1)) : 0);
}

}  // namespace dynbench::scheduler

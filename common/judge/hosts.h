// Hosts against others of their kind: which one is slower than its pool, or fails more often.
//
// A host's pool are the other hosts with the same kind of device. For each series that both have
// measured with the same build (environment, batch size, threads, number of cores), the ratio of
// the host's median to the median of the pool's hosts says how much slower it is; what is judged is
// the median of these ratios over the series, by its rank interval (common/stats/rank_interval.h),
// so that neither one slow model nor one bad process decides. A host is slow when the whole
// interval lies above kSlowFactor; the intervals' confidence is such that in a fleet of equal hosts
// the probability of naming any is at most kHostsError. Infrastructure failures are compared with
// the pool's by Fisher's exact test, at the same rate. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/stats/intervals.h"
#include "common/store/history.h"

namespace dynbench::judge {

inline constexpr double kSlowFactor = 1.1;
inline constexpr double kFailingRatio = 2;  // failures a try, against the pool's
inline constexpr double kHostsError = 0.01;

// One metric of a host against its pool.
struct HostFactor {
  size_t series = 0;                        // in common with the pool
  size_t series_needed = 0;                 // for any verdict
  std::optional<double> factor;             // above 1: slower than the pool
  std::optional<stats::Interval> interval;  // of the factor; none below `series_needed`
  bool slow = false;
};

struct HostReport {
  std::string host, device_kind;
  size_t pool = 0;  // other hosts of that kind
  HostFactor latency, compile;
  int64_t attempts = 0, failures = 0;            // of the host
  int64_t pool_attempts = 0, pool_failures = 0;  // of the other hosts of its kind together
  double failures_p = 1;
  bool failing = false;

  bool sick() const { return latency.slow || compile.slow || failing; }
  // "bench-3 is 1.9x slower than its pool (…)"; empty unless sick.
  std::string Text() const;
};

// By kind of device, sick hosts first, then by name. Compile seconds are of cold starts.
std::vector<HostReport> CompareHosts(const store::History& history);

}  // namespace dynbench::judge

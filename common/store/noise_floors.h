// The noise floors that `calibrate` has stored: the newest of each series, host and metric.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

namespace dynbench::store {

// A row of `noise_floor`; common/judge/noise_floor.h says what its figures mean.
struct NoiseFloorRow {
  std::string series;
  std::string worker_host;
  std::string metric;
  double between_variance = 0;
  double degrees_of_freedom = 0;
  double within_variance = 0;
  int processes = 0;
  JobId job;  // that it was learned from
  UnixTimeMs measured_at;
};

// A later one replaces an earlier one. Inside the caller's transaction, as in writes.h.
absl::Status PutNoiseFloors(Database& db, const std::vector<NoiseFloorRow>& floors);

// By series, host and metric. `job` 0: of all jobs.
absl::StatusOr<std::vector<NoiseFloorRow>> ListNoiseFloors(Database& db, JobId job = JobId());

// Jobs that ended after the newest floor was learned and have none, in the order of their ends: of
// the `most` that ended last. What ended before an A/A run was learned from was looked at then.
absl::StatusOr<std::vector<JobId>> EndedSinceNoiseFloors(Database& db, int most);

}  // namespace dynbench::store

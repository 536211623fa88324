// From an A/A run (a pair job of one environment against itself) to stored noise floors.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/request.h"
#include "common/store/store.h"

namespace dynbench::session {

bool IsCalibration(const plan::Request& request);

// Reads the job's results and replaces the floors of their series. Only rounds that count take
// part; a floor has two degrees of freedom at least, and a cancelled job replaces none that knows
// more. Inside the writer's transaction.
absl::Status LearnNoise(store::Database& db, JobId job, UnixTimeMs now);

// A/A runs that ended while nobody was there to learn from them (the coordinator was killed between
// the last result and the floors), in the order of their ends.
absl::StatusOr<std::vector<JobId>> CalibrationsToLearn(store::Database& reader);

}  // namespace dynbench::session

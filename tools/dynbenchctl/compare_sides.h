// The sides of `compare`, as they are typed and as they are fetched.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/judge/fingerprint.h"
#include "common/judge/noise_floor.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// "1,2,3" or "1,2:nightly": jobs, and of them one environment's rows where it is named.
struct SideSpec {
  std::vector<JobId> jobs;
  std::string environment;  // empty: the only one that they have
};

absl::StatusOr<SideSpec> ParseSide(const std::string& text);

// The rows of the jobs with host and build as they were when it was measured. A job without that
// environment, and jobs with several when none is named, are errors that name them. `samples`: also
// every sample.
// What `calibrate` has stored.
absl::StatusOr<std::vector<judge::NoiseFloor>> LoadFloors(Source& source);

absl::StatusOr<judge::Side> LoadSide(Source& source, const SideSpec& spec, bool samples);

struct PairSides {
  judge::Side base, fresh;
};

// Both sides of a job of `submit --base --new`; InvalidArgument when it is another one.
absl::StatusOr<PairSides> LoadPairJob(Source& source, JobId job, bool samples);

}  // namespace dynbench::cli

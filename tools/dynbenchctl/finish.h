// What submit --wait, wait and retry --wait have in common: following a job to its end.
#pragma once

#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/follow.h"

namespace dynbench::cli {

// Follows `job` with progress as the context allows; `rows`: rows are shown as they land.
absl::StatusOr<FollowEnd> WaitForJob(Context& context, JobId job, double timeout_s, bool rows);

// The exit code of a wait that ended so.
ExitCode ExitOf(const FollowEnd& end);

}  // namespace dynbench::cli

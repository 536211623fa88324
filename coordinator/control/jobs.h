// Jobs as people see them: the store's rows with what only the dispatcher knows (fresh counts, ETA,
// why experiments wait). Used by the control API and by the HTTP API, so both say the same.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// Newest first; `limit` 0: 50.
absl::StatusOr<std::vector<v1::Job>> LoadJobs(const Context& context, store::Database& db,
                                              int64_t limit);
// NotFound names the newest job.
absl::StatusOr<v1::Job> LoadJob(const Context& context, store::Database& db, JobId job);

}  // namespace dynbench::control

// The rows of a job as its table shows them (common/formats/results_table.h): a quarter of the
// columns of ListResults and no joins, so a fraction of its time. Read only.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "common/store/queries.h"
#include "common/store/store.h"

namespace dynbench::store {

// Calls `visit` for each row of the job in plan order, after `after` (0: from the start), at most
// `limit` (0: all); the row is `visit`'s only for the time of the call. Of a row these are set: id,
// job, plan (not `experiment`), state, attempt, lease, and of the result the words, error, batch
// size, notes and the metrics that the table has. A status of `visit` that is not OK ends it and is
// returned. A job that does not exist has no rows.
absl::Status ForEachTableRow(Database& db, JobId job, ExperimentId after, int64_t limit,
                             const std::function<absl::Status(const ResultRow&)>& visit);

}  // namespace dynbench::store

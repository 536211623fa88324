// The rows of a job with no more than its table shows (common/store/table_rows.h), from wherever
// verbs get their answers.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// Calls `visit` for each row in plan order, `experiment` included (but for its `source`); the row
// is only for the time of the call. `source` is what OpenSource has made of `globals`: whole rows
// come from it where the coordinator is too old for these.
absl::Status TableRows(const Globals& globals, Source& source, JobId job,
                       const std::function<void(const store::ResultRow&)>& visit);

}  // namespace dynbench::cli

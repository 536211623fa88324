// Sending a request: its files first, then the request itself, exactly once.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "tools/dynbenchctl/build_request.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

// Uploads `built.files`, submits the request and repeats it once under the same idempotency key
// when the connection broke before the answer came.
absl::StatusOr<v1::SubmitReply> SendRequest(Client& client, const BuiltRequest& built);

// "job 3: 36 experiments, 2 of them skipped" and where to look; with --quiet the number alone; with
// --json dynbench.submit/1.
void PrintSubmitted(Context& context, const v1::SubmitReply& reply);

// Follows the job, prints its table (or dynbench.results/1) and writes the CSV files that its plan
// names, relative to `output_folder` when that is not empty.
VerbResult FollowAndReport(Context& context, JobId job, double timeout_s,
                           const std::string& output_folder);

}  // namespace dynbench::cli

// Sending a request: its files first, then the request itself, exactly once.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "tools/dynbenchctl/build_request.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/follow.h"

namespace dynbench::cli {

// Uploads `built.files`, submits the request and repeats it once under the same idempotency key
// when the connection broke before the answer came.
absl::StatusOr<v1::SubmitReply> SendRequest(Client& client, const BuiltRequest& built);

// "job 3: 36 experiments, 2 of them skipped" and where to look; with --quiet the number alone; with
// --json dynbench.submit/1.
void PrintSubmitted(Context& context, const v1::SubmitReply& reply);

// A job that was followed to its end, or to the end of the wait.
struct FollowedJob {
  FollowEnd end;
  JobView view;
  std::vector<RowView> rows;  // with samples where the output needs them
};

// Follows the job with progress, and writes its files when it has finished.
absl::StatusOr<FollowedJob> FollowAndWrite(Context& context, JobId job, double timeout_s,
                                           const OutputFiles& output);

// Prints its table; with --json dynbench.results/1, with --quiet nothing.
void PrintFollowed(Context& context, const FollowedJob& followed);

// The two above, and the exit code.
VerbResult FollowAndReport(Context& context, JobId job, double timeout_s,
                           const OutputFiles& output);

// dynbench.submit/1.
Json SubmittedJson(const v1::SubmitReply& reply);

}  // namespace dynbench::cli

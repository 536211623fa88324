#include "tools/dynbenchctl/finish.h"

#include "tools/dynbenchctl/exit_code.h"
#include "tools/dynbenchctl/progress.h"

namespace dynbench::cli {

absl::StatusOr<FollowEnd> WaitForJob(Context& context, JobId job, double timeout_s, bool rows) {
  Progress progress = WaitProgress(context, rows);
  auto end = Follow(context.globals.coordinator, {job, true, timeout_s, context.globals.tls},
                    [&](const JobView& view, const std::vector<RowView>& changed) {
                      progress.Update(view, changed);
                    });
  progress.Clear();
  if (end.ok() && end->timed_out) {
    PrintNote(context, "the wait's time limit passed; job " + std::to_string(job.value) +
                           " goes on: dynbenchctl watch " + std::to_string(job.value));
  }
  return end;
}

ExitCode ExitOf(const FollowEnd& end) {
  Findings findings = FindingsOf(end.job.job.coverage);
  findings.wait_timed_out = end.timed_out;
  return Decide(findings);
}

}  // namespace dynbench::cli

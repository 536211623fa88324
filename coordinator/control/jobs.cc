#include "coordinator/control/jobs.h"

#include <utility>

#include "common/base/status.h"
#include "coordinator/session/rows.h"

namespace dynbench::control {
namespace {

constexpr int64_t kDefaultLimit = 50;

// Adds what the dispatcher knows to jobs that are not finished.
absl::Status Complete(const Context& context, std::vector<v1::Job>& jobs) {
  std::vector<JobId> open;
  for (const v1::Job& job : jobs) {
    if (job.finished_unix_ms() == 0) open.push_back(JobId(job.id()));
  }
  if (open.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<session::JobView> views,
                   context.dispatcher->ViewJobs(open, /*with_reasons=*/true));
  size_t next = 0;
  for (v1::Job& job : jobs) {
    if (job.finished_unix_ms() != 0) continue;
    const session::JobView& view = views[next++];
    if (!view.open) continue;  // it finished after its row was read
    *job.mutable_coverage() = view.coverage;
    job.set_eta_s(view.eta_s);
    for (const std::string& reason : view.waiting_reasons) job.add_waiting_reasons(reason);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<v1::Job>> LoadJobs(const Context& context, store::Database& db,
                                              int64_t limit) {
  ASSIGN_OR_RETURN(const auto rows, store::ListJobs(db, limit > 0 ? limit : kDefaultLimit));
  std::vector<v1::Job> jobs;
  for (const store::JobRow& row : rows) jobs.push_back(session::ToProto(row));
  RETURN_IF_ERROR(Complete(context, jobs));
  return jobs;
}

absl::StatusOr<v1::Job> LoadJob(const Context& context, store::Database& db, JobId id) {
  ASSIGN_OR_RETURN(const store::JobRow row, store::GetJob(db, id));
  std::vector<v1::Job> jobs{session::ToProto(row)};
  RETURN_IF_ERROR(Complete(context, jobs));
  return std::move(jobs.front());
}

}  // namespace dynbench::control

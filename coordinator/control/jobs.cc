#include "coordinator/control/jobs.h"

#include <utility>

#include "common/base/status.h"
#include "coordinator/session/rows.h"

namespace dynbench::control {
namespace {

constexpr int64_t kDefaultLimit = 50;

store::Coverage FromProto(const v1::Coverage& c) {
  return {c.planned(), c.passed(),    c.failed(),  c.skipped(),
          c.lost(),    c.cancelled(), c.waiting(), c.running()};
}

bool IsOpen(const store::JobRow& job) { return job.finished_at.ms == 0; }

// Adds what the dispatcher knows to jobs that are not finished.
absl::StatusOr<std::vector<formats::JobProgress>> Complete(const Context& context,
                                                           std::vector<store::JobRow> rows) {
  std::vector<formats::JobProgress> jobs;
  std::vector<JobId> open;
  for (store::JobRow& row : rows) {
    if (IsOpen(row)) open.push_back(row.id);
    jobs.push_back({std::move(row), std::nullopt, {}});
  }
  if (open.empty()) return jobs;
  ASSIGN_OR_RETURN(const std::vector<session::JobView> views,
                   context.dispatcher->ViewJobs(open, /*with_reasons=*/true));
  size_t next = 0;
  for (formats::JobProgress& job : jobs) {
    if (!IsOpen(job.job)) continue;
    const session::JobView& view = views[next++];
    if (!view.open) continue;  // it finished after its row was read
    job.job.coverage = FromProto(view.coverage);
    if (view.eta.p50_s >= 0) job.eta_s = view.eta.p50_s;
    if (view.eta.p90_s >= 0) job.eta_p90_s = view.eta.p90_s;
    job.waiting_reasons = view.waiting_reasons;
  }
  return jobs;
}

}  // namespace

absl::StatusOr<std::vector<formats::JobProgress>> LoadJobs(const Context& context,
                                                           store::Database& db, int64_t limit) {
  ASSIGN_OR_RETURN(auto rows, store::ListJobs(db, limit > 0 ? limit : kDefaultLimit));
  return Complete(context, std::move(rows));
}

absl::StatusOr<formats::JobProgress> LoadJob(const Context& context, store::Database& db,
                                             JobId id) {
  ASSIGN_OR_RETURN(const store::JobRow row, store::GetJob(db, id));
  ASSIGN_OR_RETURN(auto jobs, Complete(context, {row}));
  return std::move(jobs.front());
}

v1::Job ToProto(const formats::JobProgress& progress) {
  v1::Job job = session::ToProto(progress.job);
  job.set_eta_s(progress.eta_s.value_or(-1));
  job.set_eta_p90_s(progress.eta_p90_s.value_or(-1));
  for (const std::string& reason : progress.waiting_reasons) job.add_waiting_reasons(reason);
  return job;
}

}  // namespace dynbench::control

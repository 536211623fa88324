#include "coordinator/session/rows.h"

#include "common/plan/experiment.h"
#include "proto/dynbench/convert.h"

namespace dynbench::session {

v1::Coverage ToProto(const store::Coverage& coverage) {
  v1::Coverage out;
  out.set_planned(coverage.planned);
  out.set_passed(coverage.passed);
  out.set_failed(coverage.failed);
  out.set_skipped(coverage.skipped);
  out.set_lost(coverage.lost);
  out.set_cancelled(coverage.cancelled);
  out.set_waiting(coverage.waiting);
  out.set_running(coverage.running);
  return out;
}

v1::Job ToProto(const store::JobRow& job) {
  v1::Job out;
  out.set_id(job.id.value);
  out.set_state(job.state);
  out.set_suite(job.suite);
  out.set_label(job.label);
  out.set_user(job.user);
  out.set_cancel_reason(job.cancel_reason);
  out.set_retries(job.retries.value);
  out.set_submitted_unix_ms(job.submitted_at.ms);
  out.set_finished_unix_ms(job.finished_at.ms);
  *out.mutable_coverage() = ToProto(job.coverage);
  out.set_eta_s(-1);
  out.set_eta_p90_s(-1);
  out.set_priority(job.priority);
  return out;
}

v1::ResultRow ToProto(const store::ResultRow& row) {
  v1::ResultRow out;
  out.mutable_experiment()->set_id(row.id.value);
  out.mutable_experiment()->set_json(row.plan);
  out.set_state(row.state);
  if (row.result) *out.mutable_result() = proto::ToProto(*row.result);
  out.set_attempt(row.attempt);
  out.set_worker(row.worker.value);
  out.set_worker_host(row.worker_host);
  out.set_lease(row.lease.value);
  out.set_started_unix_ms(row.started_at.ms);
  out.set_finished_unix_ms(row.finished_at.ms);
  return out;
}

}  // namespace dynbench::session

#include "common/store/query_rows.h"

#include "common/base/status.h"
#include "common/store/blob.h"
#include "common/store/result_row.h"

namespace dynbench::store {

const char kJobSelect[] =
    "SELECT j.id, j.state, j.suite, j.label, j.user, j.cancel_reason, j.retries,"
    " j.submitted_unix_ms, j.finished_unix_ms, j.planned, j.passed, j.failed, j.skipped, j.lost,"
    " j.cancelled, j.running, j.policy, j.priority FROM job j";

JobRow ReadJob(const Statement& row) {
  JobRow job;
  job.id = JobId(row.Int(0));
  job.state = row.Text(1);
  job.suite = row.Text(2);
  job.label = row.Text(3);
  job.user = row.Text(4);
  job.cancel_reason = row.Text(5);
  job.retries = JobId(row.Int(6));
  job.submitted_at = {row.Int(7)};
  job.finished_at = {row.Int(8)};
  Coverage& c = job.coverage;
  c.planned = row.Int(9);
  c.passed = row.Int(10);
  c.failed = row.Int(11);
  c.skipped = row.Int(12);
  c.lost = row.Int(13);
  c.cancelled = row.Int(14);
  c.running = row.Int(15);
  c.waiting = c.planned - c.passed - c.failed - c.skipped - c.lost - c.cancelled - c.running;
  job.policy = plan::ParsePartitionPolicy(row.Text(16)).value_or(plan::PartitionPolicy::kDynamic);
  job.priority = static_cast<int>(row.Int(17));
  return job;
}

const std::string& RowSelect(bool with_samples) {
  // The current lease of an open experiment, that of the result of a done one.
  static const auto* const columns = new std::string(
      "SELECT e.id, e.job, p.plan, e.series, e.state, e.attempts, l.worker, w.host, l.epoch,"
      " coalesce(r.started_unix_ms, a.started_unix_ms), r.finished_unix_ms, l.slot, " +
      ResultColumns());
  static const char kFrom[] =
      " FROM experiment e JOIN experiment_plan p ON p.experiment = e.id"
      " LEFT JOIN result r ON r.experiment = e.id"
      " LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)"
      " LEFT JOIN worker w ON w.id = l.worker"
      " LEFT JOIN attempt a ON a.experiment = e.id AND a.lease = l.epoch";
  static const auto* const plain = new std::string(*columns + kFrom);
  static const auto* const sampled =
      new std::string(*columns + ", s.eager_ns, s.compiled_ns" + kFrom +
                      " LEFT JOIN sample s ON s.experiment = e.id");
  return with_samples ? *sampled : *plain;
}

absl::Status ReadRow(const Statement& row, bool with_samples, RowDetail detail,
                     plan::ExperimentReader* reader, ResultRow* out) {
  out->id = ExperimentId(row.Int(0));
  out->job = JobId(row.Int(1));
  out->plan = row.Text(2);
  const auto annotate = [out](absl::Status status) {
    if (status.ok()) return status;
    return Annotate(status, absl::StrCat("experiment ", out->id.value));
  };
  if (detail != RowDetail::kPlanAsText) {
    RETURN_IF_ERROR(annotate(reader->Read(out->plan)));
    out->experiment = reader->experiment();
  }
  out->series = row.Text(3);
  out->state = row.Text(4);
  out->attempt = static_cast<int>(row.Int(5));
  out->worker = WorkerId(row.Text(6));
  out->worker_host = row.Text(7);
  out->lease = LeaseEpoch(row.Int(8));
  out->started_at = {row.Int(9)};
  out->finished_at = {row.Int(10)};
  out->slot = static_cast<int>(row.Int(11));
  out->result.reset();
  if (out->state != "done") return absl::OkStatus();
  int column = 12;
  plan::Result& result = out->result.emplace();
  RETURN_IF_ERROR(annotate(ReadResult(row, &column, &result)));
  if (!with_samples) return absl::OkStatus();
  ASSIGN_OR_RETURN(result.eager_ns, DecodeInt64s(row.Text(column)));
  ASSIGN_OR_RETURN(result.compiled_ns, DecodeInt64s(row.Text(column + 1)));
  return absl::OkStatus();
}

}  // namespace dynbench::store

#include <map>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/experiment.h"
#include "common/store/result_row.h"
#include "common/store/statement.h"
#include "common/store/writes.h"

namespace dynbench::store {
namespace {

// The job that this key was used for before, or nullopt.
absl::StatusOr<std::optional<InsertedJob>> FindByKey(Database& db, const std::string& key,
                                                     const std::string& request) {
  Statement find(db, "SELECT id, text FROM job JOIN request ON job = id WHERE idempotency_key = ?");
  find.Bind(key);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::optional<InsertedJob>();
  InsertedJob job;
  job.job = JobId(find.Int(0));
  job.existed = true;
  if (find.Text(1) != request) {
    return absl::AlreadyExistsError(absl::StrCat("idempotency key '", key, "' was used for job ",
                                                 job.job.value,
                                                 " with another request; submit with a new key"));
  }
  Statement rows(db, "SELECT id FROM experiment WHERE job = ? ORDER BY id");
  rows.Bind(job.job);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) break;
    job.experiments.emplace_back(rows.Int(0));
  }
  return std::optional<InsertedJob>(std::move(job));
}

std::string SuiteOf(const NewJob& job) {
  if (!job.request.suite.empty()) return job.request.suite;
  if (job.request.inline_suite) return job.request.inline_suite->name;
  return job.plan.experiments.empty() ? "path" : job.plan.experiments.front().suite;
}

absl::StatusOr<JobId> InsertJobRow(Database& db, const NewJob& job, const std::string& request) {
  const bool empty = job.plan.experiments.empty();
  Statement insert(db,
                   "INSERT INTO job(idempotency_key, suite, label, user, policy, priority,"
                   " state, retries, planned, submitted_unix_ms, finished_unix_ms)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
  insert.Bind(
      job.idempotency_key.empty() ? std::nullopt : std::optional<std::string>(job.idempotency_key),
      SuiteOf(job), job.request.label, job.request.user, ToString(job.request.policy),
      job.request.priority, empty ? "finished" : "running", NullIfNone(job.retries),
      static_cast<int64_t>(job.plan.experiments.size()), job.submitted_at,
      empty ? std::optional<int64_t>(job.submitted_at.ms) : std::nullopt);
  ASSIGN_OR_RETURN(const bool row, insert.Step());
  const JobId id(row ? insert.Int(0) : 0);
  RETURN_IF_ERROR(insert.Run());
  Statement text(db, "INSERT INTO request(job, text) VALUES (?, ?)");
  RETURN_IF_ERROR(text.Bind(id, request).Run());
  return id;
}

absl::Status InsertPartitions(Database& db, JobId job, const plan::Plan& plan) {
  std::map<int, int64_t> sizes;
  for (const plan::Experiment& experiment : plan.experiments) ++sizes[experiment.partition];
  for (const auto& [number, size] : sizes) {
    Statement insert(db, "INSERT INTO partition(job, number, experiments) VALUES (?, ?, ?)");
    RETURN_IF_ERROR(insert.Bind(job, number, size).Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<ExperimentId> InsertExperiment(Database& db, JobId job, const plan::Experiment& e,
                                              ExperimentId retries) {
  Statement insert(db,
                   "INSERT INTO experiment(job, suite, model, mode, test, configuration, precision,"
                   " device, environment, profile, start, series, partition, state, retries)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?) RETURNING id");
  insert.Bind(job, e.suite, e.model, ToString(e.mode), ToString(e.test), e.configuration,
              ToString(e.precision), e.device, e.environment, e.profile, ToString(e.start),
              plan::SeriesKey(e), e.partition, NullIfNone(retries));
  ASSIGN_OR_RETURN(const bool row, insert.Step());
  const ExperimentId id(row ? insert.Int(0) : 0);
  RETURN_IF_ERROR(insert.Run());
  Statement plan(db, "INSERT INTO experiment_plan(experiment, plan) VALUES (?, ?)");
  RETURN_IF_ERROR(plan.Bind(id, plan::ToJson(e)).Run());
  return id;
}

absl::Status InsertPlannedResult(Database& db, ExperimentId id, const plan::Experiment& e,
                                 UnixTimeMs now) {
  plan::Result result;
  result.outcome = *e.planned_outcome;
  result.status = std::string(ToString(*e.planned_outcome));
  result.phase = plan::Phase::kPrepare;
  result.error = e.reason;
  return InsertResult(db, id, LeaseEpoch(), result, {now, now, now});
}

}  // namespace

absl::StatusOr<InsertedJob> InsertJob(Database& db, const NewJob& job) {
  const std::string request = plan::ToJson(job.request);
  if (!job.idempotency_key.empty()) {
    ASSIGN_OR_RETURN(std::optional<InsertedJob> before,
                     FindByKey(db, job.idempotency_key, request));
    if (before) return *std::move(before);
  }
  InsertedJob inserted;
  ASSIGN_OR_RETURN(inserted.job, InsertJobRow(db, job, request));
  RETURN_IF_ERROR(InsertPartitions(db, inserted.job, job.plan));
  inserted.experiments.reserve(job.plan.experiments.size());
  for (size_t i = 0; i < job.plan.experiments.size(); ++i) {
    const plan::Experiment& experiment = job.plan.experiments[i];
    const ExperimentId retries = i < job.retried.size() ? job.retried[i] : ExperimentId();
    ASSIGN_OR_RETURN(const ExperimentId id,
                     InsertExperiment(db, inserted.job, experiment, retries));
    inserted.experiments.push_back(id);
    if (!experiment.planned_outcome) continue;
    RETURN_IF_ERROR(InsertPlannedResult(db, id, experiment, job.submitted_at));
  }
  return inserted;
}

absl::Status MarkCancelled(Database& db, JobId job, const std::string& reason, UnixTimeMs now) {
  Statement find(db, "SELECT state FROM job WHERE id = ?");
  find.Bind(job);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return absl::NotFoundError(absl::StrCat("there is no job ", job.value));
  const std::string state = find.Text(0);
  if (state != "running") {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job.value, " is ", state, "; there is nothing left to cancel"));
  }
  Statement update(db,
                   "UPDATE job SET cancel_requested_unix_ms = ?, cancel_reason = ?"
                   " WHERE id = ? AND cancel_requested_unix_ms IS NULL");
  return update.Bind(now, reason, job).Run();
}

absl::Status PutFile(Database& db, const std::string& sha256, const std::string& name,
                     const std::string& bytes, UnixTimeMs now) {
  if (Sha256Hex(bytes) != sha256) {
    return absl::InvalidArgumentError(
        absl::StrCat("file ", name, " does not have the SHA-256 ", sha256, "; send it again"));
  }
  Statement insert(db,
                   "INSERT INTO artifact(kind, sha256, name, size_bytes, bytes, created_unix_ms)"
                   " VALUES ('file', ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  return insert.Bind(sha256, name, static_cast<int64_t>(bytes.size()), Blob{bytes}, now).Run();
}

absl::Status RecordEvent(Database& db, const std::string& kind, const std::string& subject,
                         const std::string& text, UnixTimeMs now) {
  Statement insert(db, "INSERT INTO event(kind, subject, text, at_unix_ms) VALUES (?, ?, ?, ?)");
  return insert.Bind(kind, subject, text, now).Run();
}

}  // namespace dynbench::store

#include "common/base/status.h"
#include "common/plan/experiment_reader.h"
#include "common/store/queries.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

// SQLite's LIMIT: negative is none.
int64_t SqlLimit(int64_t limit) { return limit > 0 ? limit : -1; }

absl::Status NoSuchJob(Database& db, JobId job) {
  Statement newest(db, "SELECT max(id) FROM job");
  ASSIGN_OR_RETURN(const bool row, newest.Step());
  if (!row || newest.IsNull(0)) {
    return absl::NotFoundError(
        absl::StrCat("there is no job ", job.value, "; nothing was submitted yet"));
  }
  return absl::NotFoundError(
      absl::StrCat("there is no job ", job.value, "; the newest is ", newest.Int(0)));
}

}  // namespace

absl::StatusOr<std::vector<JobRow>> ListJobs(Database& db, int64_t limit) {
  Statement query(db, absl::StrCat(kJobSelect, " ORDER BY j.id DESC LIMIT ?"));
  query.Bind(SqlLimit(limit));
  std::vector<JobRow> jobs;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    jobs.push_back(ReadJob(row));
    return absl::OkStatus();
  }));
  return jobs;
}

absl::StatusOr<JobRow> GetJob(Database& db, JobId job) {
  Statement query(db, absl::StrCat(kJobSelect, " WHERE j.id = ?"));
  query.Bind(job);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return NoSuchJob(db, job);
  return ReadJob(query);
}

absl::StatusOr<plan::Request> GetRequest(Database& db, JobId job) {
  Statement query(db, "SELECT text FROM request WHERE job = ?");
  query.Bind(job);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return NoSuchJob(db, job);
  return plan::RequestFromJson(query.Text(0));
}

absl::StatusOr<bool> RanPairs(Database& db, JobId job) {
  Statement query(db,
                  "SELECT json_extract(p.plan, '$.pair') > 0 FROM experiment e"
                  " JOIN result r ON r.experiment = e.id"
                  " JOIN experiment_plan p ON p.experiment = e.id"
                  " WHERE e.job = ? AND r.started_unix_ms > 0 ORDER BY e.id LIMIT 1");
  query.Bind(job);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  return found && query.Int(0) != 0;
}

absl::StatusOr<std::vector<ResultRow>> ListResults(Database& db, JobId job, ExperimentId after,
                                                   int64_t limit, bool with_samples,
                                                   RowDetail detail) {
  // The ids of a job's experiments are in plan order: InsertJob gives them in one transaction.
  Statement query(db, absl::StrCat(RowSelect(with_samples),
                                   " WHERE e.job = ? AND e.id > ? ORDER BY e.id LIMIT ?"));
  query.Bind(job, after, SqlLimit(limit));
  plan::ExperimentReader reader;
  std::vector<ResultRow> rows;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    return ReadRow(row, with_samples, detail, &reader, &rows.emplace_back());
  }));
  if (rows.empty() && !after) RETURN_IF_ERROR(GetJob(db, job).status());
  return rows;
}

absl::StatusOr<ExperimentRange> RangeOf(Database& db, JobId job) {
  Statement query(db, "SELECT min(id), max(id) FROM experiment WHERE job = ?");
  query.Bind(job);
  ASSIGN_OR_RETURN(const bool row, query.Step());
  if (!row || query.IsNull(0)) return ExperimentRange();
  return ExperimentRange{ExperimentId(query.Int(0)), ExperimentId(query.Int(1))};
}

absl::Status VisitResults(Database& db, JobId job, const ExperimentRange& range,
                          const std::function<absl::Status(const ResultRow&)>& visit) {
  Statement query(db, absl::StrCat(RowSelect(/*with_samples=*/false),
                                   " WHERE e.job = ? AND e.id BETWEEN ? AND ? ORDER BY e.id"));
  query.Bind(job, range.first, range.last);
  ResultRow out;
  return ForEachRow(query, [&](const Statement& row) {
    RETURN_IF_ERROR(
        ReadRow(row, /*with_samples=*/false, RowDetail::kPlanAsText, /*reader=*/nullptr, &out));
    return visit(out);
  });
}

absl::StatusOr<ResultRow> GetExperiment(Database& db, ExperimentId experiment) {
  Statement query(db, absl::StrCat(RowSelect(true), " WHERE e.id = ?"));
  query.Bind(experiment);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return absl::NotFoundError(absl::StrCat("there is no experiment ", experiment.value));
  plan::ExperimentReader reader;
  ResultRow row;
  RETURN_IF_ERROR(ReadRow(query, /*with_samples=*/true, RowDetail::kWhole, &reader, &row));
  return row;
}

absl::StatusOr<std::vector<AttemptRow>> ListAttempts(Database& db, ExperimentId experiment) {
  Statement query(db,
                  "SELECT a.lease, l.worker, l.slot, a.state, a.reason, a.started_unix_ms,"
                  " a.finished_unix_ms FROM attempt a JOIN lease l ON l.epoch = a.lease"
                  " WHERE a.experiment = ? ORDER BY a.lease");
  query.Bind(experiment);
  std::vector<AttemptRow> attempts;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    AttemptRow attempt;
    attempt.id = {experiment, LeaseEpoch(row.Int(0))};
    attempt.worker = WorkerId(row.Text(1));
    attempt.slot = static_cast<int>(row.Int(2));
    attempt.state = row.Text(3);
    attempt.reason = row.Text(4);
    attempt.started_at = {row.Int(5)};
    attempt.finished_at = {row.Int(6)};
    attempts.push_back(std::move(attempt));
    return absl::OkStatus();
  }));
  return attempts;
}

absl::StatusOr<std::string> GetLog(Database& db, ExperimentId experiment) {
  Statement find(db,
                 "SELECT e.state, r.lease FROM experiment e"
                 " LEFT JOIN result r ON r.experiment = e.id WHERE e.id = ?");
  find.Bind(experiment);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return absl::NotFoundError(absl::StrCat("there is no experiment ", experiment.value));
  // A result that no worker brought has no log of its own: the last attempt's says most.
  Statement log(db,
                "SELECT bytes FROM artifact WHERE kind = 'log' AND experiment = ?1"
                " AND (?2 IS NULL OR lease = ?2) ORDER BY lease DESC LIMIT 1");
  log.Bind(experiment, find.IsNull(1) ? std::nullopt : std::optional<int64_t>(find.Int(1)));
  ASSIGN_OR_RETURN(const bool there, log.Step());
  return there ? log.Text(0) : std::string();
}

absl::StatusOr<std::string> GetFile(Database& db, const std::string& sha256) {
  Statement query(db, "SELECT bytes FROM artifact WHERE kind = 'file' AND sha256 = ?");
  query.Bind(sha256);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat("there is no file with SHA-256 ", sha256, "; submit the job again"));
  }
  return query.Text(0);
}

}  // namespace dynbench::store

#include "common/base/status.h"
#include "common/store/result_row.h"
#include "common/store/statement.h"
#include "common/store/writes.h"
#include "nlohmann/json.hpp"

namespace dynbench::store {
namespace {

using nlohmann::json;

struct Situation {
  bool counts = false;    // the attempt's lease is the experiment's current one
  bool received = false;  // this attempt's result came before
};

#ifdef DYNBENCH_PLANT_UNFENCED_LATE_RESULT  // a planted bug: docs/reliability.md, "Simulation"
#define DYNBENCH_COUNTS "e.state <> 'done'"
#else
#define DYNBENCH_COUNTS "e.lease IS a.lease"
#endif

absl::StatusOr<Situation> Look(Database& db, const AttemptId& attempt) {
  Statement find(db, "SELECT " DYNBENCH_COUNTS
                     ", a.received_unix_ms IS NOT NULL"
                     " FROM attempt a JOIN experiment e ON e.id = a.experiment"
                     " WHERE a.experiment = ? AND a.lease = ?");
  find.Bind(attempt.experiment, attempt.lease);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) {
    return absl::NotFoundError(absl::StrCat(
        "experiment ", attempt.experiment.value, " was never leased under ", attempt.lease.value,
        "; this result belongs to another coordinator's database"));
  }
  return Situation{find.Int(0) != 0, find.Int(1) != 0};
}

// What is kept of a result that does not count.
std::string Evidence(const plan::Result& result) {
  return json{{"outcome", ToString(result.outcome)},
              {"status", result.status},
              {"phase", ToString(result.phase)},
              {"blame", ToString(result.blame)},
              {"error", result.error},
              {"metrics", plan::MetricsToJson(result.metrics)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::Status InsertLog(Database& db, const AttemptId& attempt, const std::string& log,
                       UnixTimeMs now) {
  if (log.empty()) return absl::OkStatus();
  Statement insert(db,
                   "INSERT INTO artifact(kind, experiment, lease, name, size_bytes, bytes,"
                   " created_unix_ms) VALUES ('log', ?, ?, 'log', ?, ?, ?)");
  return insert
      .Bind(attempt.experiment, attempt.lease, static_cast<int64_t>(log.size()), Blob{log}, now)
      .Run();
}

}  // namespace

absl::StatusOr<Acceptance> RecordResult(Database& db, const AttemptId& attempt,
                                        const plan::Result& result, const std::string& log,
                                        UnixTimeMs started_at, UnixTimeMs finished_at,
                                        UnixTimeMs received_at) {
  ASSIGN_OR_RETURN(const Situation situation, Look(db, attempt));
  if (situation.received) return Acceptance::kDuplicate;
  RETURN_IF_ERROR(InsertLog(db, attempt, log, received_at));
  // Before its attempt ends: a trigger counts the start of one that is still as it was leased.
  if (situation.counts) {
    RETURN_IF_ERROR(InsertResult(db, attempt.experiment, attempt.lease, result,
                                 {started_at, finished_at, received_at}));
  }
  Statement update(db,
                   "UPDATE attempt SET state = ?, started_unix_ms = coalesce(started_unix_ms, ?),"
                   " finished_unix_ms = ?, received_unix_ms = ?, evidence = ? WHERE experiment = ? "
                   "AND lease = ?");
  update.Bind(situation.counts ? "done" : "superseded", started_at, finished_at, received_at,
              situation.counts ? std::nullopt : std::optional<std::string>(Evidence(result)),
              attempt.experiment, attempt.lease);
  RETURN_IF_ERROR(update.Run());
  return situation.counts ? Acceptance::kCounted : Acceptance::kSuperseded;
}

absl::Status Conclude(Database& db, ExperimentId experiment, plan::Outcome outcome,
                      const std::string& status, plan::Blame blame, const std::string& reason,
                      UnixTimeMs now) {
  Statement find(db, "SELECT state FROM experiment WHERE id = ?");
  find.Bind(experiment);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return absl::NotFoundError(absl::StrCat("there is no experiment ", experiment.value));
  if (find.Text(0) == "done") {
    return absl::AlreadyExistsError(
        absl::StrCat("experiment ", experiment.value, " has its result"));
  }
  Statement supersede(db,
                      "UPDATE attempt SET state = 'superseded', reason = ?1, finished_unix_ms = ?2"
                      " WHERE experiment = ?3 AND lease = (SELECT lease FROM experiment"
                      " WHERE id = ?3)");
  RETURN_IF_ERROR(supersede.Bind(reason, now, experiment).Run());
  plan::Result result;
  result.outcome = outcome;
  result.status = status;
  result.phase = plan::Phase::kPrepare;
  result.blame = blame;
  result.error = reason;
  return InsertResult(db, experiment, LeaseEpoch(), result, {UnixTimeMs(), now, now});
}

}  // namespace dynbench::store

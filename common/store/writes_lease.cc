#include "common/base/status.h"
#include "common/store/statement.h"
#include "common/store/writes.h"

namespace dynbench::store {
namespace {

// A coordinator that was killed between the last result of a lease and its CloseLease leaves a live
// lease with nothing in it, which must not keep the slot for ever.
absl::Status CloseEmptyLease(Database& db, const SlotId& slot, UnixTimeMs now) {
  Statement close(db,
                  "UPDATE lease SET state = 'closed', closed_unix_ms = ? WHERE worker = ?"
                  " AND slot = ? AND state = 'live'"
                  " AND NOT EXISTS (SELECT 1 FROM experiment e WHERE e.lease = lease.epoch)");
  return close.Bind(now, slot.worker, slot.index).Run();
}

absl::Status InsertLeaseRow(Database& db, LeaseEpoch epoch, const SlotId& slot, UnixTimeMs now) {
  Statement insert(db,
                   "INSERT INTO lease(epoch, worker, slot, fingerprint, state, granted_unix_ms)"
                   " SELECT ?, id, ?, fingerprint, 'live', ? FROM worker WHERE id = ?"
                   " RETURNING epoch");
  insert.Bind(epoch, slot.index, now, slot.worker);
  ASSIGN_OR_RETURN(const bool row, insert.Step());
  if (!row) {
    return absl::NotFoundError(
        absl::StrCat("lease ", epoch.value, ": there is no worker ", slot.worker.value));
  }
  return insert.Run();
}

absl::Status LeaseExperiment(Database& db, LeaseEpoch epoch, const SlotId& slot,
                             ExperimentId experiment) {
  Statement find(db, "SELECT state, lease, environment FROM experiment WHERE id = ?");
  find.Bind(experiment);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat("lease ", epoch.value, ": there is no experiment ", experiment.value));
  }
  const bool done = find.Text(0) == "done";
  if (!find.IsNull(1)) {
    return absl::FailedPreconditionError(absl::StrCat("lease ", epoch.value, ": experiment ",
                                                      experiment.value, " is still leased under ",
                                                      find.Int(1), "; requeue it first"));
  }
  Statement attempt(db,
                    "INSERT INTO attempt(experiment, lease, environment, state, reason) VALUES"
                    " (?, ?, (SELECT environment FROM worker_environment WHERE worker = ?"
                    " AND name = ?), ?, ?)");
  RETURN_IF_ERROR(attempt
                      .Bind(experiment, epoch, slot.worker, find.Text(2),
                            done ? "superseded" : "leased",
                            done ? "its result was there before the lease" : "")
                      .Run());
  if (done) return absl::OkStatus();
  Statement update(db, "UPDATE experiment SET lease = ? WHERE id = ?");
  return update.Bind(epoch, experiment).Run();
}

struct AttemptFacts {
  std::string state;
  bool counts = false;  // its lease is the experiment's current one
};

absl::StatusOr<AttemptFacts> FindAttempt(Database& db, const AttemptId& attempt) {
  Statement find(db,
                 "SELECT a.state, e.lease IS a.lease FROM attempt a"
                 " JOIN experiment e ON e.id = a.experiment"
                 " WHERE a.experiment = ? AND a.lease = ?");
  find.Bind(attempt.experiment, attempt.lease);
  ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) {
    return absl::NotFoundError(absl::StrCat("experiment ", attempt.experiment.value,
                                            " was never leased under ", attempt.lease.value));
  }
  return AttemptFacts{find.Text(0), find.Int(1) != 0};
}

}  // namespace

absl::Status InsertLease(Database& db, LeaseEpoch epoch, const SlotId& slot,
                         const std::vector<ExperimentId>& experiments, UnixTimeMs now) {
  RETURN_IF_ERROR(CloseEmptyLease(db, slot, now));
  const absl::Status inserted = InsertLeaseRow(db, epoch, slot, now);
  if (absl::IsAlreadyExists(inserted)) {
    return absl::FailedPreconditionError(
        absl::StrCat("worker ", slot.worker.value, " slot ", slot.index,
                     " has a live lease; close it before lease ", epoch.value, " is granted"));
  }
  RETURN_IF_ERROR(inserted);
  for (const ExperimentId experiment : experiments) {
    RETURN_IF_ERROR(LeaseExperiment(db, epoch, slot, experiment));
  }
  return absl::OkStatus();
}

absl::Status CloseLease(Database& db, LeaseEpoch epoch, UnixTimeMs now) {
  Statement update(db,
                   "UPDATE lease SET state = 'closed', closed_unix_ms = coalesce(closed_unix_ms, ?)"
                   " WHERE epoch = ? RETURNING epoch");
  update.Bind(now, epoch);
  ASSIGN_OR_RETURN(const bool found, update.Step());
  if (!found) return absl::NotFoundError(absl::StrCat("there is no lease ", epoch.value));
  return update.Run();
}

absl::Status RecordStarted(Database& db, const AttemptId& attempt, UnixTimeMs now) {
  ASSIGN_OR_RETURN(const AttemptFacts facts, FindAttempt(db, attempt));
  if (facts.state != "leased" || !facts.counts) return absl::OkStatus();
  Statement update(db,
                   "UPDATE attempt SET state = 'running', started_unix_ms = ?"
                   " WHERE experiment = ? AND lease = ?");
  RETURN_IF_ERROR(update.Bind(now, attempt.experiment, attempt.lease).Run());
  Statement experiment(
      db, "UPDATE experiment SET state = 'running', attempts = attempts + 1 WHERE id = ?");
  return experiment.Bind(attempt.experiment).Run();
}

absl::Status Requeue(Database& db, ExperimentId experiment, LeaseEpoch fenced,
                     const std::string& reason, UnixTimeMs now, const std::string& cause) {
  ASSIGN_OR_RETURN(const AttemptFacts facts, FindAttempt(db, {experiment, fenced}));
  if (!facts.counts) return absl::OkStatus();
  Statement attempt(db,
                    "UPDATE attempt SET state = 'requeued', reason = ?, finished_unix_ms = ?,"
                    " cause = ? WHERE experiment = ? AND lease = ?");
  RETURN_IF_ERROR(attempt.Bind(reason, now, cause, experiment, fenced).Run());
  Statement update(db, "UPDATE experiment SET state = 'waiting', lease = NULL WHERE id = ?");
  return update.Bind(experiment).Run();
}

}  // namespace dynbench::store

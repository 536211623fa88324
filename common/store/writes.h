// Every change of the store. Each function runs inside a transaction that the caller holds
// (coordinator/ingest batches them: BEGIN IMMEDIATE … COMMIT) and either does all of its change or
// returns an error and has changed nothing (the caller wraps it in a savepoint).
//
// Nothing here may be acknowledged to anybody before the transaction has been committed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/expand.h"
#include "common/plan/request.h"
#include "common/plan/result.h"
#include "common/store/store.h"

namespace dynbench::store {

struct NewJob {
  plan::Request request;
  plan::Plan plan;
  UnixTimeMs submitted_at;
  JobId retries;                      // the job whose experiments these repeat; 0: none
  std::vector<ExperimentId> retried;  // parallel to plan.experiments when `retries` is set
  std::string idempotency_key;        // empty: none
};
struct InsertedJob {
  JobId job;
  std::vector<ExperimentId> experiments;  // parallel to plan.experiments
  bool existed = false;                   // the idempotency key was known: nothing was inserted
};
// A job that was inserted before under the same idempotency key is answered again; AlreadyExists
// when that was for another request. Also writes the results of experiments that the plan itself
// decided (skipped, with the reason).
absl::StatusOr<InsertedJob> InsertJob(Database& db, const NewJob& job);

struct WorkerRow {
  WorkerId id;
  std::string host;
  std::string version;
  std::string inventory_json;             // sockets, cores, memory, devices
  std::string environments_json;          // [{name, torch_version, hash, capabilities…}]
  std::vector<std::string> slot_devices;  // by slot index
  std::string labels_json = "{}";         // {name: value}
  int64_t clock_skew_ms = 0;              // its clock minus ours
};
absl::Status UpsertWorker(Database& db, const WorkerRow& worker, UnixTimeMs now);
// When a worker that has left was last heard of, and its clock minus ours then. Never moves the
// time back.
absl::Status RecordLastSeen(Database& db, const WorkerId& worker, UnixTimeMs seen,
                            int64_t clock_skew_ms);

// FailedPrecondition: the slot or one of the experiments has a live lease, or the epoch is not
// above every earlier one. An experiment that got its result meanwhile gets a superseded attempt,
// since a result may be committed while the lease is on its way.
absl::Status InsertLease(Database& db, LeaseEpoch epoch, const SlotId& slot,
                         const std::vector<ExperimentId>& experiments, UnixTimeMs now);
absl::Status CloseLease(Database& db, LeaseEpoch epoch, UnixTimeMs now);  // idempotent
// Idempotent. NotFound: no such attempt was ever leased. Without effect for an attempt that no
// longer counts.
absl::Status RecordStarted(Database& db, const AttemptId& attempt, UnixTimeMs now);
// The epoch stops counting for this experiment, which waits again. Without effect when it does not
// count any more (requeued, or concluded meanwhile). NotFound: no such attempt was ever leased.
// `cause`: "crash", "infrastructure" or "phase_limit" when it counts for the experiment.
absl::Status Requeue(Database& db, ExperimentId experiment, LeaseEpoch fenced,
                     const std::string& reason, UnixTimeMs now, const std::string& cause = "");

enum class Acceptance { kCounted, kDuplicate, kSuperseded };
// Idempotent by attempt. kCounted: this is the experiment's result. kDuplicate: this attempt was
// already recorded; nothing changed. kSuperseded: the experiment was leased again, cancelled or
// concluded meanwhile; kept as evidence in `attempt`, never counted.
// NotFound: no such attempt was ever leased.
absl::StatusOr<Acceptance> RecordResult(Database& db, const AttemptId& attempt,
                                        const plan::Result& result, const std::string& log,
                                        UnixTimeMs started_at, UnixTimeMs finished_at,
                                        UnixTimeMs received_at);

// A result that no worker brought (lost, cancelled, poison). AlreadyExists when there is one.
absl::Status Conclude(Database& db, ExperimentId experiment, plan::Outcome outcome,
                      const std::string& status, plan::Blame blame, const std::string& reason,
                      UnixTimeMs now);
// The job ends as "cancelled" with its last experiment. FailedPrecondition: it has ended.
absl::Status MarkCancelled(Database& db, JobId job, const std::string& reason, UnixTimeMs now);

// InvalidArgument: `sha256` is not that of the bytes. A content-addressed file that travels with
// jobs (model files). Inserting it twice is no error.
absl::Status PutFile(Database& db, const std::string& sha256, const std::string& name,
                     const std::string& bytes, UnixTimeMs now);

// Something worth telling an operator: "worker_joined", "lease_expired", …
absl::Status RecordEvent(Database& db, const std::string& kind, const std::string& subject,
                         const std::string& text, UnixTimeMs now);

}  // namespace dynbench::store

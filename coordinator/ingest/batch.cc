#include "coordinator/ingest/batch.h"

#include <sqlite3.h>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/store/statement.h"

namespace dynbench::ingest {
namespace {

absl::Status Run(store::Database& db, const char* sql) { return store::Statement(db, sql).Run(); }

// Each try waits for the connection's busy timeout, so this loop does not spin.
absl::Status RunPatiently(store::Database& db, const char* sql,
                          const std::function<bool()>& give_up) {
  while (true) {
    absl::Status status = Run(db, sql);
    if (!absl::IsUnavailable(status) || give_up()) return status;
  }
}

// A full disk or an I/O error may have rolled the whole transaction back already.
bool InTransaction(store::Database& db) { return sqlite3_get_autocommit(db.handle()) == 0; }

void Rollback(store::Database& db) {
  if (InTransaction(db)) (void)Run(db, "ROLLBACK");
}

// Runs the change so that its failure leaves nothing behind. Returns false when the transaction is
// gone, `change->status` saying why.
bool ApplyOne(store::Database& db, Pending* change) {
  const absl::Status savepoint = Run(db, "SAVEPOINT change");
  change->status = savepoint.ok() ? change->change(db) : savepoint;
  if (!InTransaction(db)) return false;
  if (!savepoint.ok()) return true;
  if (!change->status.ok() && !Run(db, "ROLLBACK TO change").ok()) return false;
  return Run(db, "RELEASE change").ok();
}

BatchOutcome FailAll(store::Database& db, size_t applied, absl::Status status) {
  Rollback(db);
  return {applied, std::move(status)};
}

// Alone, a change needs no savepoint: the transaction is its own.
BatchOutcome RunSingle(store::Database& db, Pending* change, const std::function<bool()>& give_up) {
  change->status = change->change(db);
  if (!change->status.ok()) {
    Rollback(db);
    return {1, absl::OkStatus()};
  }
  absl::Status commit = RunPatiently(db, "COMMIT", give_up);
  if (!commit.ok()) return FailAll(db, 1, Annotate(commit, "nothing was stored"));
  return {1, absl::OkStatus()};
}

// Without savepoints, which copy every page that a change touches. Zero: one of them failed, and
// nothing is in the transaction, which is over.
size_t ApplyTrusting(store::Database& db, std::vector<Pending>* batch, int64_t time_ns) {
  const MonotonicTime start = MonotonicNow();
  size_t applied = 0;
  while (applied < batch->size() && (applied == 0 || MonotonicNow() - start < time_ns)) {
    Pending* change = &(*batch)[applied++];
    change->status = change->change(db);
    if (change->status.ok() && InTransaction(db)) continue;
    Rollback(db);
    return 0;
  }
  return applied;
}

BatchOutcome RunCarefully(store::Database& db, std::vector<Pending>* batch, int64_t time_ns,
                          const std::function<bool()>& give_up) {
  const MonotonicTime start = MonotonicNow();
  size_t applied = 0;
  while (applied < batch->size() && (applied == 0 || MonotonicNow() - start < time_ns)) {
    Pending* change = &(*batch)[applied++];
    if (ApplyOne(db, change)) continue;
    const absl::Status why =
        change->status.ok() ? absl::InternalError("the transaction was lost") : change->status;
    return FailAll(db, applied, Annotate(why, "nothing was stored"));
  }
  const absl::Status commit = RunPatiently(db, "COMMIT", give_up);
  if (!commit.ok()) return FailAll(db, applied, Annotate(commit, "nothing was stored"));
  return {applied, absl::OkStatus()};
}

}  // namespace

BatchOutcome RunBatch(store::Database& db, std::vector<Pending>* batch, int64_t time_ns,
                      const std::function<bool()>& give_up) {
  absl::Status begun = RunPatiently(db, "BEGIN IMMEDIATE", give_up);
  if (!begun.ok()) return {batch->size(), Annotate(begun, "nothing was stored")};
  if (batch->size() == 1) return RunSingle(db, &batch->front(), give_up);
  if (const size_t applied = ApplyTrusting(db, batch, time_ns); applied > 0) {
    const absl::Status commit = RunPatiently(db, "COMMIT", give_up);
    if (!commit.ok()) return FailAll(db, applied, Annotate(commit, "nothing was stored"));
    return {applied, absl::OkStatus()};
  }
  begun = RunPatiently(db, "BEGIN IMMEDIATE", give_up);
  if (!begun.ok()) return {batch->size(), Annotate(begun, "nothing was stored")};
  return RunCarefully(db, batch, time_ns, give_up);
}

}  // namespace dynbench::ingest

// The store's single writer: a thread that groups changes into bounded transactions and tells each
// caller only after the commit.
//
// Batches are bounded by number (kBatchLimit) and by time (kBatchTimeNs), since one large batch
// costs tens of milliseconds of latency. A change that fails does not take its neighbours with it:
// then the batch is applied again with a savepoint around each (which costs a copy of every page
// that it touches, so not before). A database that another process has
// locked is waited for; nothing is acknowledged early. A commit that fails (full disk) is reported
// to every caller of its batch, nothing of which is stored, and the writer goes on with the next.
//
// It also checkpoints: when nothing is to be done, or when the log has grown past a size.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "common/store/store.h"

namespace dynbench::ingest {

// What comes while a commit waits for the disk is the next batch, so batches are small at rest and
// grow with the load; nobody waits for company. The limits hold when the writer cannot keep up.
inline constexpr size_t kBatchLimit = 256;
inline constexpr int64_t kBatchTimeNs = 5'000'000;  // of applying; the rest goes to the next batch

inline constexpr int64_t kLazyNs = 20'000'000;

inline constexpr int64_t kStopWaitNs = 30'000'000'000;

// A change of the store (common/store/writes.h). Runs on the writer thread; must not block on
// anything but the database. May run twice: when a neighbour in its batch fails, all of them are
// rolled back and applied again, each in a savepoint of its own.
using Change = std::function<absl::Status(store::Database&)>;

// Called on the writer thread after the commit, with the change's own status, or with the commit's
// error. Must be quick and must not call Ingest::ApplyAndWait.
using Committed = std::function<void(const absl::Status&)>;

// Of this process's life; for metrics.
struct Counters {
  int64_t changes = 0;  // acknowledged, whatever their status
  int64_t batches = 0;  // committed
  int64_t failed_commits = 0;
  int64_t busy_waits = 0;  // times that another process held the database longer than a try
  int64_t checkpoints = 0;
};

// Where changes of the store are handed in; what a user of the writer needs to know of it. Ingest
// is the real one, tests/simulation has one that lives in simulated time.
class Writer {
 public:
  virtual ~Writer() = default;
  // Never blocks. Changes are applied in the order of these calls.
  virtual void Apply(Change change, Committed committed) = 0;
  // The same, in the same order, for a change that nobody waits for: it goes with the next one that
  // somebody waits for, or after kLazyNs. For what a crash may forget.
  virtual void ApplyLazily(Change change, Committed committed) {
    Apply(std::move(change), std::move(committed));
  }
};

class Ingest final : public Writer {
 public:
  // Takes over the writing connection.
  explicit Ingest(std::unique_ptr<store::Database> db, int64_t stop_wait_ns = kStopWaitNs);
  // Commits what was handed in, then stops. A database that stays locked for `stop_wait_ns` fails
  // what is left with Unavailable.
  ~Ingest() override;
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  void Apply(Change change, Committed committed) override;
  void ApplyLazily(Change change, Committed committed) override;

  // Applies and waits for the commit. Not from the writer thread.
  absl::Status ApplyAndWait(Change change);

  Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynbench::ingest

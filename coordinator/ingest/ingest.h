// The store's single writer: a thread that groups changes into bounded transactions and tells each
// caller only after the commit.
//
// Batches are bounded by number (kBatchLimit) and by time (kBatchWait), since one large batch costs
// tens of milliseconds of latency. Each change runs in a savepoint of its own: one that fails does
// not take its neighbours with it. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "common/store/store.h"

namespace dynbench::ingest {

// A change of the store (common/store/writes.h). Runs on the writer thread; must not block on
// anything but the database.
using Change = std::function<absl::Status(store::Database&)>;

// Called on the writer thread after the commit, with the change's own status, or with the commit's
// error. Must be quick and must not call Ingest::Flush.
using Committed = std::function<void(const absl::Status&)>;

class Ingest {
 public:
  // Takes over the writing connection.
  explicit Ingest(std::unique_ptr<store::Database> db);
  ~Ingest();  // commits what was handed in, then stops
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  // Never blocks. Changes are applied in the order of these calls.
  void Apply(Change change, Committed committed);

  // Applies and waits for the commit. Not from the writer thread.
  absl::Status ApplyAndWait(Change change);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynbench::ingest

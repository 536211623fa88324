// One transaction with several changes in it. For coordinator/ingest and tests/simulation alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/store/store.h"
#include "coordinator/ingest/ingest.h"

namespace dynbench::ingest {

struct Pending {
  Change change;
  Committed committed;
  absl::Status status;  // of the change
  bool lazy = false;
};

struct BatchOutcome {
  // The first `applied` changes were handled; the others did not fit into the time and were not
  // touched. At least one.
  size_t applied = 0;
  absl::Status commit;  // not ok: none of them is stored
};

// Runs the changes in one transaction, at least one and no more than fit into `time_ns`, and
// commits. Waits while another process holds the database, for as long as `give_up` says no.
BatchOutcome RunBatch(store::Database& db, std::vector<Pending>* batch, int64_t time_ns,
                      const std::function<bool()>& give_up);

}  // namespace dynbench::ingest

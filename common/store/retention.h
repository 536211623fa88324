// Dropping old evidence, in small steps, so that the writer's other work hardly waits. Results,
// their metrics, experiments and jobs are never touched. The freed pages are used again; the file
// itself does not shrink. Runs inside the caller's transaction.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

namespace dynbench::store {

// What was received, made or ended before these times goes; 0: nothing of the kind goes.
struct Retention {
  UnixTimeMs samples_before;
  UnixTimeMs logs_before;      // logs of attempts; model files stay, a retry needs them
  UnixTimeMs activity_before;  // spans of slots, and events
  bool any() const { return samples_before.ms > 0 || logs_before.ms > 0 || activity_before.ms > 0; }
};

inline constexpr int64_t kRetentionStepRows = 200;

// Where a pass over the tables is.
struct RetentionCursor {
  int64_t sample = 0;  // keys that were looked at
  int64_t log = 0;
  bool done = false;  // nothing old is left in the part that was walked
  int64_t samples_dropped = 0, logs_dropped = 0, activity_dropped = 0;
};

// One step of a pass: looks at kRetentionStepRows rows of each kind at most. A pass begins with a
// cursor of its own and ends with `done`.
absl::StatusOr<RetentionCursor> DropSome(Database& db, const Retention& retention,
                                         RetentionCursor cursor);

}  // namespace dynbench::store

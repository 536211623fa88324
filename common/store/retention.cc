#include "common/store/retention.h"

#include <sqlite3.h>

#include "common/base/status.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

// Deletes the old ones among the next rows after `*cursor`, which it moves on. Returns whether
// there may be more: keys grow with time, so a whole step without an old row ends the walk.
absl::StatusOr<bool> Walk(Database& db, const char* next, const char* remove, UnixTimeMs before,
                          int64_t* cursor, int64_t* dropped) {
  Statement query(db, next);
  query.Bind(*cursor, kRetentionStepRows);
  ASSIGN_OR_RETURN(const bool row, query.Step());
  const int64_t seen = row ? query.Int(0) : 0;
  if (seen == 0) return false;
  const int64_t last = query.Int(1);
  Statement drop(db, remove);
  RETURN_IF_ERROR(drop.Bind(*cursor, last, before).Run());
  const int64_t gone = sqlite3_changes(db.handle());
  *dropped += gone;
  *cursor = last;
  return gone > 0 && seen == kRetentionStepRows;
}

absl::StatusOr<int64_t> Drop(Database& db, const char* sql, UnixTimeMs before) {
  Statement drop(db, sql);
  RETURN_IF_ERROR(drop.Bind(before, kRetentionStepRows).Run());
  return sqlite3_changes(db.handle());
}

}  // namespace

absl::StatusOr<RetentionCursor> DropSome(Database& db, const Retention& retention,
                                         RetentionCursor cursor) {
  cursor.done = true;
  if (retention.samples_before.ms > 0) {
    ASSIGN_OR_RETURN(
        const bool more,
        Walk(db,
             "SELECT count(*), max(experiment) FROM (SELECT experiment FROM sample"
             " WHERE experiment > ? ORDER BY experiment LIMIT ?)",
             "DELETE FROM sample WHERE experiment > ?1 AND experiment <= ?2 AND"
             " (SELECT received_unix_ms FROM result WHERE result.experiment = sample.experiment)"
             " < ?3",
             retention.samples_before, &cursor.sample, &cursor.samples_dropped));
    cursor.done = cursor.done && !more;
  }
  if (retention.logs_before.ms > 0) {
    ASSIGN_OR_RETURN(const bool more,
                     Walk(db,
                          "SELECT count(*), max(id) FROM (SELECT id FROM artifact"
                          " WHERE id > ? AND kind = 'log' ORDER BY id LIMIT ?)",
                          "DELETE FROM artifact WHERE id > ?1 AND id <= ?2 AND kind = 'log'"
                          " AND created_unix_ms < ?3",
                          retention.logs_before, &cursor.log, &cursor.logs_dropped));
    cursor.done = cursor.done && !more;
  }
  if (retention.activity_before.ms > 0) {
    ASSIGN_OR_RETURN(
        const int64_t spans,
        Drop(db,
             "DELETE FROM slot_span WHERE (worker, slot, since_unix_ms) IN"
             " (SELECT worker, slot, since_unix_ms FROM slot_span WHERE until_unix_ms < ? LIMIT ?)",
             retention.activity_before));
    ASSIGN_OR_RETURN(const int64_t events,
                     Drop(db,
                          "DELETE FROM event WHERE id IN"
                          " (SELECT id FROM event WHERE at_unix_ms < ? ORDER BY id LIMIT ?)",
                          retention.activity_before));
    cursor.activity_dropped += spans + events;
    cursor.done = cursor.done && spans < kRetentionStepRows && events < kRetentionStepRows;
  }
  return cursor;
}

}  // namespace dynbench::store

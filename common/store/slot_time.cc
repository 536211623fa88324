#include "common/store/slot_time.h"

#include "common/base/status.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {

absl::Status RecordSpans(Database& db, const std::vector<SlotSpan>& spans) {
  for (const SlotSpan& span : spans) {
    const SlotId& slot = span.slot;
    if (span.until.ms <= span.since.ms) {
      Statement remove(db,
                       "DELETE FROM slot_span WHERE worker = ? AND slot = ? AND since_unix_ms = ?");
      RETURN_IF_ERROR(remove.Bind(slot.worker, slot.index, span.since).Run());
      continue;
    }
    Statement put(db,
                  "INSERT INTO slot_span(worker, slot, since_unix_ms, until_unix_ms, reason)"
                  " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT(worker, slot, since_unix_ms)"
                  " DO UPDATE SET until_unix_ms = ?4, reason = ?5");
    RETURN_IF_ERROR(put.Bind(slot.worker, slot.index, span.since, span.until, span.reason).Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SlotSpan>> LastSpans(Database& db) {
  Statement query(db,
                  "SELECT p.worker, p.slot, p.since_unix_ms, p.until_unix_ms, p.reason"
                  " FROM slot s JOIN slot_span p ON p.worker = s.worker AND p.slot = s.number"
                  " AND p.since_unix_ms = (SELECT max(since_unix_ms) FROM slot_span"
                  "                        WHERE worker = s.worker AND slot = s.number)");
  std::vector<SlotSpan> spans;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    spans.push_back({{WorkerId(row.Text(0)), static_cast<int>(row.Int(1))},
                     {row.Int(2)},
                     {row.Int(3)},
                     row.Text(4)});
    return absl::OkStatus();
  }));
  return spans;
}

absl::StatusOr<std::vector<SlotSeconds>> SecondsByReason(Database& db, UnixTimeMs since,
                                                         UnixTimeMs until) {
  Statement query(db,
                  "SELECT worker, slot, reason,"
                  " sum(min(until_unix_ms, ?2) - max(since_unix_ms, ?1)) / 1000.0 AS seconds"
                  " FROM slot_span WHERE until_unix_ms > ?1 AND since_unix_ms < ?2"
                  " GROUP BY worker, slot, reason ORDER BY worker, slot, seconds DESC, reason");
  query.Bind(since, until);
  std::vector<SlotSeconds> all;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    all.push_back(
        {{WorkerId(row.Text(0)), static_cast<int>(row.Int(1))}, row.Text(2), row.Real(3)});
    return absl::OkStatus();
  }));
  return all;
}

}  // namespace dynbench::store

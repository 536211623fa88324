#include "common/store/holds.h"

#include "common/base/status.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {

absl::StatusOr<HoldRows> LoadHolds(Database& db) {
  HoldRows rows;
  Statement drains(db, "SELECT worker, reason, deadline_unix_ms FROM drain ORDER BY worker");
  RETURN_IF_ERROR(ForEachRow(drains, [&](const Statement& row) {
    rows.drains.push_back({WorkerId(row.Text(0)), row.Text(1), {row.Int(2)}});
    return absl::OkStatus();
  }));
  Statement quarantines(db,
                        "SELECT worker, slot, reason, source, at_unix_ms FROM quarantine"
                        " ORDER BY worker, slot");
  RETURN_IF_ERROR(ForEachRow(quarantines, [&](const Statement& row) {
    rows.quarantines.push_back({{WorkerId(row.Text(0)), static_cast<int>(row.Int(1))},
                                row.Text(2),
                                row.Text(3),
                                {row.Int(4)}});
    return absl::OkStatus();
  }));
  return rows;
}

absl::Status PutDrain(Database& db, const DrainRow& drain, UnixTimeMs now) {
  Statement put(db,
                "INSERT OR REPLACE INTO drain(worker, reason, deadline_unix_ms, at_unix_ms)"
                " VALUES (?, ?, ?, ?)");
  return put.Bind(drain.worker, drain.reason, drain.deadline, now).Run();
}

absl::Status PutQuarantine(Database& db, const QuarantineRow& q) {
  Statement put(db,
                "INSERT OR REPLACE INTO quarantine(worker, slot, reason, source, at_unix_ms)"
                " VALUES (?, ?, ?, ?, ?)");
  return put.Bind(q.slot.worker, q.slot.index, q.reason, q.source, q.at).Run();
}

absl::Status DeleteDrain(Database& db, const WorkerId& worker) {
  Statement remove(db, "DELETE FROM drain WHERE worker = ?");
  return remove.Bind(worker).Run();
}

absl::Status DeleteQuarantine(Database& db, const SlotId& slot) {
  Statement remove(db, "DELETE FROM quarantine WHERE worker = ? AND slot = ?");
  return remove.Bind(slot.worker, slot.index).Run();
}

}  // namespace dynbench::store

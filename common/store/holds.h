// What was decided about workers and slots, and stays decided over restarts of either side: drains
// and quarantines. The writes run inside the caller's transaction, as those of writes.h do.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

namespace dynbench::store {

// A worker takes nothing more until it is released.
struct DrainRow {
  WorkerId worker;
  std::string reason;
  UnixTimeMs deadline;  // what runs then is given back
};

// A slot takes nothing until it is released; one of source "failures" also until its checks pass.
struct QuarantineRow {
  SlotId slot;
  std::string reason;
  std::string source;  // "operator" or "failures"
  UnixTimeMs at;
};

struct HoldRows {
  std::vector<DrainRow> drains;
  std::vector<QuarantineRow> quarantines;
};
absl::StatusOr<HoldRows> LoadHolds(Database& db);

// A later one replaces an earlier one. FailedPrecondition: no such worker has ever connected.
absl::Status PutDrain(Database& db, const DrainRow& drain, UnixTimeMs now);
absl::Status PutQuarantine(Database& db, const QuarantineRow& quarantine);
// Without effect when there is none.
absl::Status DeleteDrain(Database& db, const WorkerId& worker);
absl::Status DeleteQuarantine(Database& db, const SlotId& slot);

}  // namespace dynbench::store

// A plan::Result as a row of `result` and back. Private to common/store. The metrics' columns come
// from common/plan/metric_fields.h.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/result.h"
#include "common/store/statement.h"

namespace dynbench::store {

struct ResultTimes {
  UnixTimeMs started_at, finished_at, received_at;
};

// Inserts the row and, when there are samples, that of `sample`. `lease` none: no worker brought
// it.
absl::Status InsertResult(Database& db, ExperimentId experiment, LeaseEpoch lease,
                          const plan::Result& result, const ResultTimes& times);

// "r.outcome, r.status, …" for a SELECT with `result AS r`; ReadResult reads them beginning at
// `column` and moves it past them.
const std::string& ResultColumns();
absl::Status ReadResult(const Statement& row, int* column, plan::Result* result);

}  // namespace dynbench::store

// The two row shapes that several questions share. Private to common/store.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/plan/experiment_reader.h"
#include "common/store/queries.h"
#include "common/store/statement.h"

namespace dynbench::store {

// "SELECT … FROM job j"; append a WHERE. ReadJob reads its rows.
extern const char kJobSelect[];
JobRow ReadJob(const Statement& row);

// "SELECT … FROM experiment e LEFT JOIN …"; append a WHERE. ReadRow reads its rows.
const std::string& RowSelect(bool with_samples);
// `reader` remembers the plan before, so that many rows are read faster; not used with kPlanAsText.
// `out` may hold another row, all of which is replaced.
absl::Status ReadRow(const Statement& row, bool with_samples, RowDetail detail,
                     plan::ExperimentReader* reader, ResultRow* out);

// Steps through all rows of `query` and hands each to `read(query)`, which returns a status.
template <typename Read>
absl::Status ForEachRow(Statement& query, Read&& read) {
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    if (absl::Status status = read(query); !status.ok()) return status;
  }
}

}  // namespace dynbench::store

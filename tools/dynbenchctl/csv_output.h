// Upstream's CSV files from a job's rows.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// The CSV of rows that all belong to one test, in plan order. InvalidArgument when there are rows
// of both tests: their columns differ.
absl::StatusOr<std::string> CsvOfOneTest(const std::vector<RowView>& rows);

// Writes every file that the plan gave rows to (Experiment::output, relative to `folder`). Each
// file appears whole or not at all. Returns the absolute paths written.
absl::StatusOr<std::vector<std::string>> WriteCsvFiles(const std::string& folder,
                                                       const std::vector<RowView>& rows);

}  // namespace dynbench::cli

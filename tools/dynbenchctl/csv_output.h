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

// `path` for one of two tests: "/a/x.csv" -> "/a/x_performance.csv".
std::string PathForTest(const std::string& path, plan::Test test);

// Writes one CSV for each test among `rows`: to `path`, or with both tests to PathForTest of it.
// Each file appears whole or not at all. Returns the paths written.
absl::StatusOr<std::vector<std::string>> WriteCsvFiles(const std::string& path,
                                                       const std::vector<RowView>& rows);

}  // namespace dynbench::cli

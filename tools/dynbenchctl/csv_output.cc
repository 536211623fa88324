#include "tools/dynbenchctl/csv_output.h"

#include <filesystem>

#include "common/base/status.h"
#include "common/formats/upstream_csv.h"
#include "tools/dynbenchctl/durable_file.h"
#include "tools/dynbenchctl/row_line.h"

namespace dynbench::cli {

absl::StatusOr<std::string> CsvOfOneTest(const std::vector<RowView>& rows) {
  for (const RowView& row : rows) {
    if (row.row.experiment.test != rows.front().row.experiment.test) {
      return absl::InvalidArgumentError(
          "--csv: the job has performance and accuracy tests, whose columns differ; add --test "
          "performance or --test accuracy");
    }
  }
  if (rows.empty()) return absl::InvalidArgumentError("--csv: the job has no such test");
  return formats::UpstreamCsv(rows.front().row.experiment.test, StoreRows(rows));
}

absl::StatusOr<std::vector<std::string>> WriteCsvFiles(const std::string& folder,
                                                       const std::vector<RowView>& rows) {
  std::vector<std::string> paths;
  for (const formats::CsvFile& file : formats::UpstreamCsvFiles(StoreRows(rows))) {
    paths.push_back((std::filesystem::path(folder) / file.name).lexically_normal().string());
    RETURN_IF_ERROR(ReplaceFile(paths.back(), file.text));
  }
  return paths;
}

}  // namespace dynbench::cli

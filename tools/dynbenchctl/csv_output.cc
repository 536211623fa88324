#include "tools/dynbenchctl/csv_output.h"

#include <filesystem>

#include "common/base/durable_file.h"
#include "common/formats/upstream_csv.h"
#include "tools/dynbenchctl/row_line.h"

namespace dynbench::cli {

absl::StatusOr<std::string> CsvOfOneTest(const std::vector<RowView>& rows,
                                         const formats::UpstreamOptions& options) {
  if (rows.empty()) return absl::InvalidArgumentError("--csv: the job has no such test");
  const plan::Test test = rows.front().row.experiment.test;
  for (const RowView& row : rows) {
    if (row.row.experiment.test != test) {
      return absl::InvalidArgumentError(
          "--csv: the job has several tests, whose columns differ; add --test performance, --test "
          "accuracy, --test tolerance or --test batch_size");
    }
  }
  return formats::UpstreamCsv(test, StoreRows(rows), options);
}

absl::StatusOr<std::vector<std::string>> WriteOutput(const OutputFiles& output,
                                                     const std::vector<RowView>& rows,
                                                     formats::NameOf name_of) {
  if (!name_of) name_of = output.dashboard_names ? formats::DashboardName : formats::PlannedName;
  std::vector<std::string> paths;
  const auto files =
      formats::UpstreamFiles(StoreRows(rows), name_of, output.options, output.beside);
  for (const formats::UpstreamFile& file : files) {
    paths.push_back((std::filesystem::path(output.folder) / file.name).lexically_normal().string());
    const absl::Status written = WriteFileDurably(paths.back(), file.bytes, kReadableByAll);
    if (!written.ok()) {
      // Whatever the reason: the job is measured, its rows are kept, and the file can be had again.
      return absl::UnavailableError("cannot write " + std::string(written.message()) +
                                    "; results JOB --output FILE writes it later");
    }
  }
  return paths;
}

}  // namespace dynbench::cli

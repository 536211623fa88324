// Writing a job's rows as upstream's files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/formats/upstream_files.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// What to write where.
struct OutputFiles {
  std::string folder;  // absolute; what names are relative to. Empty: write nothing
  formats::UpstreamOptions options;
  formats::FilesBeside beside;
  bool dashboard_names = false;  // names of upstream's CI instead of those that the plan has
};

// The CSV of rows that all have one test; InvalidArgument names the flag that picks one.
absl::StatusOr<std::string> CsvOfOneTest(const std::vector<RowView>& rows,
                                         const formats::UpstreamOptions& options);

// Writes the rows' files, each in one step, and answers their paths. `name_of` none: by
// `dashboard_names`.
absl::StatusOr<std::vector<std::string>> WriteOutput(const OutputFiles& output,
                                                     const std::vector<RowView>& rows,
                                                     formats::NameOf name_of = nullptr);

}  // namespace dynbench::cli

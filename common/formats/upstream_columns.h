// The columns of upstream's result files, each with its name and how a row's cell is had: what the
// CSV and the JSON writers share, so that both follow one header. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/words.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// What upstream's command line adds to its files.
struct UpstreamOptions {
  std::optional<std::string> tag;                         // column `tag`
  std::optional<std::map<std::string, double>> baseline;  // model -> speedup, --baseline
};

struct UpstreamCell {
  std::string text;              // as it stands in the CSV
  std::optional<double> number;  // the value in JSON; none: `text` is the value
  bool known = true;             // false: a filler, since nothing was measured
};

struct UpstreamColumn {
  std::string name;
  std::function<UpstreamCell(const store::ResultRow&)> cell;
};

// A row of upstream's files: passed, failed or lost. Skipped, cancelled and unfinished ones have
// none there.
bool HasUpstreamRow(const store::ResultRow& row);

// The columns of the file that holds these rows of one test: dev, name, batch_size, then what is
// measured. Optional columns (tag, baseline, cache_lookup_latency, prefill) are there when the
// options or one of the rows ask for them.
std::vector<UpstreamColumn> UpstreamColumns(plan::Test test,
                                            const std::vector<store::ResultRow>& rows,
                                            const UpstreamOptions& options);

// dev, name, batch_size and, where asked for, tag: how the rows of every other file begin.
std::vector<UpstreamColumn> UpstreamKeyColumns(const UpstreamOptions& options);

// Speedups by model of a performance CSV: upstream's, or ours. Read by the header's names; the
// last row of a model counts, rows without a number are left out. InvalidArgument names
// `file_name` and what is missing.
absl::StatusOr<std::map<std::string, double>> ReadBaseline(const std::string& text,
                                                           const std::string& file_name);

}  // namespace dynbench::formats

// Reads what upstream's scripts write for one model: CSV first, its JSON where the CSV lacks
// something. Tolerant of everything that such files are known to hold (headers that grew, rows
// under another header, rows doubled or cut, zeros that stand for nothing), and typed: what does
// not fit becomes a note, and nothing is made up. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/result.h"

namespace dynbench::formats {

// The texts of the files; empty where there was none.
struct UpstreamFiles {
  std::string csv;                  // STEM.csv
  std::string json;                 // STEM.json
  std::string compilation_metrics;  // STEM_compilation_metrics.csv
  std::string graph_breaks;         // STEM_graph_breaks.csv
  std::string stats;                // STEM_stats.csv
};

struct UpstreamRow {
  // Accuracy: upstream's word. Other tests: "measured", or empty for a failure row, since its zeros
  // say no more.
  std::string status;
  int batch_size = 0;
  plan::Metrics metrics;  // empty in a failure row
  std::string accuracy_rule;
  std::map<std::string, std::string> other;  // columns that dynbench has no field for, as written
};

struct UpstreamReading {
  std::optional<UpstreamRow> row;  // none: no (whole) row of this model
  std::string compiler_report;     // plan::Result::compiler_report; empty when there is nothing
  std::vector<std::string> notes;
};

UpstreamReading ReadUpstream(const UpstreamFiles& files, plan::Test test, std::string_view model);

}  // namespace dynbench::formats

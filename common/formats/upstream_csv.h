// Upstream's CSV files: its columns in its order, so that what reads its files reads ours.
//
// A row for every experiment that was tried and has ended (passed, failed, lost); none for skipped,
// cancelled, waiting or running ones, as upstream has none. Floats have 6 decimals, memory is in
// 10^9 bytes, what was not measured is 0. A failed performance row is batch 0, speedup and latency
// 0.000000; its status word is only in `results` and `results --json` (this format has no column
// for it). Unlike upstream's, every row has as many cells as the header, and cells are quoted where
// they need to be (RFC 4180). Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/words.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// The file of one test: header and rows, '\n' at each end of line.
std::string UpstreamCsv(plan::Test test, const std::vector<store::ResultRow>& rows);

// One file per name that `submit --output` planned and test, in the order of the rows. Rows without
// an output are left out.
struct CsvFile {
  std::string name;
  plan::Test test = plan::Test::kPerformance;
  std::string text;
};
std::vector<CsvFile> UpstreamCsvFiles(const std::vector<store::ResultRow>& rows);

}  // namespace dynbench::formats

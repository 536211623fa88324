// Upstream's CSV files: its columns in its order, so that what reads its files reads ours.
//
// A row for every experiment that was tried and has ended (passed, failed, lost); none for skipped,
// cancelled, waiting or running ones, as upstream has none. Floats have 6 decimals, memory is in
// 10^9 bytes, what was not measured is 0. A failed performance row is batch 0, speedup and latency
// 0.000000; its status word is only in `results` and `results --json` (this format has no column
// for it). Unlike upstream's, every row is written by the header's names, has as many cells as the
// header, and cells are quoted where they need to be (RFC 4180). Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/upstream_columns.h"
#include "common/plan/words.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// The file of one test: header and rows, '\n' at each end of line. Test batch_size has no header
// and lines of name,size, which is what --batch-size-file reads.
std::string UpstreamCsv(plan::Test test, const std::vector<store::ResultRow>& rows,
                        const UpstreamOptions& options = {});

// The files beside it; empty when there is nothing to write.
// <stem>_compilation_metrics.csv: a column for each phase of the compiler, summed seconds.
std::string CompilationMetricsCsv(const std::vector<store::ResultRow>& rows,
                                  const UpstreamOptions& options = {});
// <stem>_graph_breaks.csv: model, reason and user_stack of every break, all quoted; `deduped`:
// the first of each reason.
std::string GraphBreaksCsv(const std::vector<store::ResultRow>& rows, bool deduped);
// <stem>_stats.csv: AOT graphs, all of them and those that compiled.
std::string StatsCsv(const std::vector<store::ResultRow>& rows);

// A row's timings as NumPy's .npy (format 1.0): repeat × 2 doubles, seconds, eager then compiled.
// Empty without samples.
std::string RawTimingsNpy(const store::ResultRow& row);

}  // namespace dynbench::formats

// The rows of a job as a table for people and as dynbench.results/1. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// One line a model (and mode, configuration, …): performance and accuracy beside each other. Then
// every experiment that failed or was lost, with whom to blame and the one useful line of its
// error; then those that were skipped, with the reason. Columns that are the same in all rows are
// named once, above. Ends with the counts.
std::string ResultsText(const JobView& job, const std::vector<RowView>& rows);

// {"schema": "dynbench.results/1", "job": …, "coverage": …, "results": […]}; a superset of the
// table. `with_samples` adds eager_ns and compiled_ns.
Json ResultsJson(const JobView& job, const std::vector<RowView>& rows, bool with_samples);

// One line about a row that has just ended, for logs and pipes:
// "failed   timm/ghostnet_100 inference performance: crash in compile (compiler): SIGSEGV".
std::string RowLine(const RowView& row);

// "1.234x", "7.27 ms", … of the row's main figure, or its accuracy word; empty without one.
std::string MainFigure(const RowView& row);

// A row that counts against the job: failed or lost.
bool IsFailure(const RowView& row);

// The outcome, or the state when there is none yet.
std::string OutcomeWord(const RowView& row);

}  // namespace dynbench::cli

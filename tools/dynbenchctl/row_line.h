// Single rows in words. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "nlohmann/json.hpp"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// "failed   repvgg_a2 performance: crash in compile, blame compiler: …", or for an experiment
// without a result "running  repvgg_a2 performance: compile". Words that are not the defaults of a
// bare submit (mode, configuration, …) follow in brackets.
std::string RowLine(const RowView& row, const formats::TableStyle& style = {});

// A row that counts against the job: failed or lost.
bool IsFailure(const RowView& row);

// The outcome, or the state when there is none yet.
std::string OutcomeWord(const RowView& row);

// dynbench.results/1, with the experiments' numbers and the phase that a running one is in.
nlohmann::json ResultsJson(const JobView& job, const std::vector<RowView>& rows);

// The rows without what only a coordinator knows.
std::vector<store::ResultRow> StoreRows(const std::vector<RowView>& rows);
std::vector<store::ResultRow> StoreRows(std::vector<RowView>&& rows);

}  // namespace dynbench::cli

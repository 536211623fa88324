// Arguments that several verbs share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "tools/dynbenchctl/command_tree.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// A job's number: "12" or "j12".
absl::StatusOr<JobId> ParseJobId(const std::string& text);
// An experiment's number: "12" or "e12".
absl::StatusOr<ExperimentId> ParseExperimentId(const std::string& text);

// A check of a flag's value: a finite number above 0.
CLI::Validator PositiveNumber();

// Adds the argument JOB to `verb`.
void AddJobArgument(CLI::App* verb, std::string* target, bool required = true);
// Adds "--test performance|accuracy|tolerance|batch_size" to `verb`.
void AddTestFlag(CommandTree& tree, CLI::App* verb, std::string* target, const std::string& text);

// The rows of `model` in a job, of `test` only when it is not empty. NotFound names the nearest
// models of that job.
absl::StatusOr<std::vector<RowView>> RowsOfModel(const std::vector<RowView>& rows,
                                                 const std::string& model, const std::string& test);

}  // namespace dynbench::cli

#include "tools/dynbenchctl/arguments.h"

#include <cmath>
#include <set>

#include "absl/strings/numbers.h"
#include "common/plan/nearest.h"

namespace dynbench::cli {
namespace {

absl::StatusOr<int64_t> ParseNumber(const std::string& text, char letter, const char* what) {
  const bool lettered = !text.empty() && text[0] == letter;
  int64_t value = 0;
  if (!absl::SimpleAtoi(lettered ? text.substr(1) : text, &value) || value < 1) {
    return absl::InvalidArgumentError("'" + text + "' is no number of " + what +
                                      "; dynbenchctl status lists jobs, results JOB --json "
                                      "experiments");
  }
  return value;
}

}  // namespace

absl::StatusOr<JobId> ParseJobId(const std::string& text) {
  const auto value = ParseNumber(text, 'j', "a job");
  if (!value.ok()) return value.status();
  return JobId(*value);
}

absl::StatusOr<ExperimentId> ParseExperimentId(const std::string& text) {
  const auto value = ParseNumber(text, 'e', "an experiment");
  if (!value.ok()) return value.status();
  return ExperimentId(*value);
}

CLI::Validator PositiveNumber() {
  // CLI11's own lets "nan" pass and prints the largest double with its 309 digits.
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        const bool good = absl::SimpleAtod(text, &value) && std::isfinite(value) && value > 0;
        return good ? "" : "'" + text + "' is no number above 0";
      },
      "");
}

void AddJobArgument(CLI::App* verb, std::string* target, bool required) {
  verb->add_option("JOB", *target, "number of the job")->required(required);
}

void AddTestFlag(CommandTree& tree, CLI::App* verb, std::string* target, const std::string& text) {
  tree.Choices(verb->add_option("--test", *target, text)->type_name("TEST")->group("flags"),
               {"performance", "accuracy", "tolerance", "batch_size"});
}

absl::StatusOr<std::vector<RowView>> RowsOfModel(const std::vector<RowView>& rows,
                                                 const std::string& model,
                                                 const std::string& test) {
  std::vector<RowView> found;
  std::set<std::string> models;
  for (const RowView& row : rows) {
    models.insert(row.row.experiment.model);
    if (row.row.experiment.model != model) continue;
    if (!test.empty() && ToString(row.row.experiment.test) != test) continue;
    found.push_back(row);
  }
  if (!found.empty()) return found;
  if (models.count(model) > 0) {
    return absl::NotFoundError("the job has no " + test + " test of " + model);
  }
  return absl::NotFoundError(
      "the job has no model '" + model + "'" +
      plan::DidYouMean(model, std::vector<std::string>(models.begin(), models.end())));
}

}  // namespace dynbench::cli

#include <memory>

#include "common/base/status.h"
#include "common/formats/results_table.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/csv_output.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job, test;
  bool csv = false, samples = false;
};

// The two tests have different columns, so one CSV holds one test: performance where a job has
// both, which is said on stderr.
std::string TestOfCsv(Context& context, const std::vector<RowView>& rows) {
  bool performance = false, accuracy = false;
  for (const RowView& row : rows) {
    (row.row.experiment.test == plan::Test::kAccuracy ? accuracy : performance) = true;
  }
  if (!performance || !accuracy) return "";
  PrintNote(context, "these are the performance rows; --test accuracy prints the others");
  return std::string(ToString(plan::Test::kPerformance));
}

VerbResult Results(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const JobId id, ParseJobId(arguments.job));
  if (arguments.csv && context.globals.json) {
    return absl::InvalidArgumentError("--csv and --json exclude each other");
  }
  if (arguments.samples && !context.globals.json) {
    return absl::InvalidArgumentError("--samples would have no effect: only --json shows samples");
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const JobView job, source->GetJob(id));
  ASSIGN_OR_RETURN(const auto all, source->Results(id, arguments.samples));
  const std::string test =
      arguments.csv && arguments.test.empty() ? TestOfCsv(context, all) : arguments.test;
  std::vector<RowView> rows;
  for (const RowView& row : all) {
    if (test.empty() || ToString(row.row.experiment.test) == test) {
      rows.push_back(row);
    }
  }
  if (context.globals.json) {
    PrintJson(context, ResultsJson(job, rows));
  } else if (arguments.csv) {
    ASSIGN_OR_RETURN(const std::string csv, CsvOfOneTest(rows));
    context.out() << csv;
  } else {
    context.out() << formats::ResultsTable(job.job, StoreRows(rows), StyleOf(context));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddResults(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("results", "The table of a job, also while it runs.",
                   [arguments](Context& context) { return Results(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  AddTestFlag(tree, verb, &arguments->test, "only this test: performance or accuracy");
  verb->add_flag(
          "--csv", arguments->csv,
          "upstream's CSV, columns in upstream's order; of a job with both tests the performance "
          "rows, unless --test says otherwise")
      ->group("flags");
  verb->add_flag("--samples", arguments->samples, "with --json: every sample, in nanoseconds")
      ->group("flags");
}

}  // namespace dynbench::cli

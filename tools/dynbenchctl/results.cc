#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/formats/compile_pays.h"
#include "common/formats/coverage.h"
#include "common/formats/results_table.h"
#include "common/plan/catalog.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/csv_output.h"
#include "tools/dynbenchctl/output_flags.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/table_rows.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job, test, output;
  std::vector<std::string> models;
  OutputFlags flags;
  bool csv = false, samples = false, pays = false, coverage = false;
};

absl::Status Check(const Arguments& a, const Globals& globals) {
  const auto bad = [](const char* message) { return absl::InvalidArgumentError(message); };
  if (a.csv && globals.json) return bad("--csv and --json exclude each other");
  if (a.csv && !a.output.empty()) return bad("--csv and --output exclude each other: --csv prints");
  if (a.samples && !globals.json) {
    return bad("--samples would have no effect: only --json shows samples");
  }
  if (a.flags.raw_timings && a.output.empty()) {
    return bad("--dump-raw-metrics would have no effect: it is written beside --output");
  }
  if ((a.flags.tag || a.flags.baseline) && !a.csv && a.output.empty()) {
    return bad("--tag and --baseline would have no effect: they are columns of --csv and --output");
  }
  const int others =
      (a.pays ? 1 : 0) + (a.coverage ? 1 : 0) + (a.csv || !a.output.empty() || a.samples ? 1 : 0);
  if (others > 1) {
    return bad("--pays, --coverage and the files or samples of a job exclude each other");
  }
  if (!a.models.empty() && !a.coverage) {
    return bad("--models would have no effect: it is the list that --coverage looks up");
  }
  return absl::OkStatus();
}

// The tests have different columns, so one CSV holds one test: performance where a job has
// several, which is said on stderr.
std::string TestOfCsv(Context& context, const std::vector<RowView>& rows) {
  std::set<plan::Test> tests;
  for (const RowView& row : rows) tests.insert(row.row.experiment.test);
  if (tests.size() < 2) return "";
  const plan::Test first = *tests.begin();
  std::string others;
  for (const plan::Test test : tests) {
    if (test != first)
      others += (others.empty() ? "--test " : ", --test ") + std::string(ToString(test));
  }
  PrintNote(context, "these are the " + std::string(ToString(first)) + " rows; " + others +
                         (tests.size() == 2 ? " prints the others" : " print the others"));
  return std::string(ToString(first));
}

// `has`: the tests of the job.
absl::Status NoSuchTest(const std::string& test, const std::set<std::string>& has) {
  std::string words;
  for (const std::string& word : has) words += (words.empty() ? "" : ", ") + word;
  return absl::NotFoundError("the job has no " + test + " test; it has " +
                             (words.empty() ? "no experiments" : words));
}

absl::StatusOr<std::vector<RowView>> OfTest(std::vector<RowView> all, const std::string& test) {
  if (test.empty()) return all;
  std::vector<RowView> rows;
  std::set<std::string> tests;
  for (RowView& row : all) {
    tests.insert(std::string(ToString(row.row.experiment.test)));
    if (ToString(row.row.experiment.test) == test) rows.push_back(std::move(row));
  }
  if (rows.empty()) return NoSuchTest(test, tests);
  return rows;
}

// The table, which needs no row for longer than it takes to add it.
absl::Status PrintTable(Context& context, const std::string& test, const JobView& job,
                        Source& source) {
  formats::ResultsPage page;
  std::set<std::string> tests;  // of the rows that are left out
  bool some = test.empty();
  const auto add = [&](const store::ResultRow& row) {
    if (!test.empty() && ToString(row.experiment.test) != test) {
      tests.emplace(ToString(row.experiment.test));
      return;
    }
    some = true;
    page.Add(row);
  };
  RETURN_IF_ERROR(TableRows(context.globals, source, job.job.id, add));
  if (!some) return NoSuchTest(test, tests);
  context.out() << page.Take(job.job, StyleOf(context));
  return absl::OkStatus();
}

// Models of the installed suite of that name; none for a suite of the user's own.
std::vector<std::string> SuiteModels(const std::string& suite) {
  std::vector<std::string> models;
  const auto folder = plan::FindSuitesFolder();
  if (!folder.ok()) return models;
  const auto catalog = plan::LoadCatalog(*folder);
  if (!catalog.ok()) return models;
  const auto found = catalog->suites.find(suite);
  if (found == catalog->suites.end()) return models;
  for (const plan::ModelRules& model : found->second.models) models.push_back(model.name);
  return models;
}

void PrintCoverage(Context& context, const Arguments& arguments, const JobView& job,
                   const std::vector<RowView>& rows) {
  const auto models =
      formats::CoverageOfModels(StoreRows(rows), SuiteModels(job.job.suite), arguments.models);
  if (context.globals.json) {
    PrintJson(context, formats::CoverageOfModelsJson(job.job, models));
  } else {
    context.out() << formats::CoverageTable(job.job, models, StyleOf(context));
  }
}

absl::Status WriteFiles(Context& context, const Arguments& arguments,
                        const std::vector<RowView>& rows) {
  OutputFiles output;
  const std::filesystem::path path = AbsolutePath(context, arguments.output);
  output.folder = path.parent_path();
  RETURN_IF_ERROR(SetOutput(context, arguments.flags, &output));
  const std::string name = path.filename();
  ASSIGN_OR_RETURN(const auto paths, WriteOutput(output, rows, [&](const store::ResultRow&) {
                     return std::string(name);
                   }));
  for (const std::string& written : paths) {
    if (!context.globals.quiet) context.out() << "wrote " << written << "\n";
  }
  return absl::OkStatus();
}

VerbResult Results(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const JobId id, ParseJobId(arguments.job));
  RETURN_IF_ERROR(Check(arguments, context.globals));
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const JobView job, source->GetJob(id));
  const bool is_table = !arguments.coverage && !arguments.pays && arguments.output.empty() &&
                        !context.globals.json && !arguments.csv;
  if (is_table) {
    RETURN_IF_ERROR(PrintTable(context, arguments.test, job, *source));
    return ExitCode::kDone;
  }
  ASSIGN_OR_RETURN(auto all, source->Results(id, arguments.samples || arguments.flags.raw_timings));
  const bool one_test = arguments.csv && arguments.test.empty();
  const std::string test = one_test ? TestOfCsv(context, all) : arguments.test;
  ASSIGN_OR_RETURN(auto rows, OfTest(std::move(all), test));
  if (arguments.coverage) {
    PrintCoverage(context, arguments, job, rows);
  } else if (arguments.pays && context.globals.json) {
    PrintJson(context, formats::PaysJson(job.job, StoreRows(rows)));
  } else if (arguments.pays) {
    context.out() << formats::PaysTable(job.job, StoreRows(rows), StyleOf(context));
  } else if (!arguments.output.empty()) {
    RETURN_IF_ERROR(WriteFiles(context, arguments, rows));
  } else if (context.globals.json) {
    PrintJson(context, ResultsJson(job, rows));
  } else {
    OutputFiles output;
    RETURN_IF_ERROR(SetOutput(context, arguments.flags, &output));
    ASSIGN_OR_RETURN(const std::string csv, CsvOfOneTest(rows, output.options));
    context.out() << csv;
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
  AddTestFlag(tree, verb, &arguments->test,
              "only this test: performance, accuracy, tolerance or batch_size");
  const auto add_switch = [&](const char* name, bool* target, const char* text) {
    verb->add_flag(name, *target, text)->group("flags");
  };
  add_switch("--pays", &arguments->pays,
             "does compiling pay? per model: what it costs, what it saves, after how many calls");
  add_switch("--coverage", &arguments->coverage,
             "per model: ran, skipped and why, not planned, not in the suite");
  verb->add_option("--models", arguments->models, "names that --coverage looks up, too")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("flags");
  add_switch(
      "--csv", &arguments->csv,
      "upstream's CSV, columns in upstream's order; of a job with both tests the performance "
      "rows, unless --test says otherwise");
  verb->add_option("--output", arguments->output,
                   "write upstream's CSV there, and its JSON, compile phases and graph breaks "
                   "beside it; with several tests the test's name is added")
      ->type_name("FILE.csv")
      ->group("flags");
  AddOutputFlags(verb, &arguments->flags);
  add_switch("--samples", &arguments->samples, "with --json: every sample, in nanoseconds");
}

}  // namespace dynbench::cli

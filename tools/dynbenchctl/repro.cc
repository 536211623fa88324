#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/repro_block.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string first, model, test;
};

VerbResult Repro(Context& context, const Arguments& arguments) {
  std::vector<ExperimentId> ids;
  if (arguments.model.empty()) {
    if (!arguments.test.empty()) {
      return absl::InvalidArgumentError("--test would have no effect: EXPERIMENT has one test");
    }
    ASSIGN_OR_RETURN(const ExperimentId id, ParseExperimentId(arguments.first));
    ids.push_back(id);
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  if (!arguments.model.empty()) {
    ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.first));
    ASSIGN_OR_RETURN(const auto all, source->Results(job, false));
    ASSIGN_OR_RETURN(const auto rows, RowsOfModel(all, arguments.model, arguments.test));
    for (const RowView& row : rows) ids.push_back(row.row.id);
  }
  Json blocks = Json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSIGN_OR_RETURN(ExperimentView view, source->Experiment(ids[i]));
    const std::string& sha256 = view.row.row.experiment.source.file_sha256;
    if (!sha256.empty()) {
      ASSIGN_OR_RETURN(view.model_file, source->File(sha256));
    }
    if (context.globals.json) {
      blocks.push_back(ReproJson(view));
    } else {
      context.out() << (i > 0 ? "\n" : "") << ReproBlock(view);
    }
  }
  if (context.globals.json) {
    PrintJson(context, ids.size() == 1
                           ? blocks.front()
                           : Json{{"schema", "dynbench.repro/1"}, {"experiments", blocks}});
  }
  return ExitCode::kDone;
}

}  // namespace

void AddRepro(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("repro", "One pasteable block that says how to measure an experiment again.",
                   [arguments](Context& context) { return Repro(context, *arguments); });
  verb->add_option("EXPERIMENT", arguments->first,
                   "number of the experiment; or of the job when MODEL follows")
      ->required();
  verb->add_option("MODEL", arguments->model, "exact name of a model of that job");
  AddTestFlag(tree, verb, &arguments->test, "only this test of MODEL: performance or accuracy");
}

}  // namespace dynbench::cli

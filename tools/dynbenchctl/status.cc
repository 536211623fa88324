#include <memory>

#include "common/base/status.h"
#include "common/formats/error_clusters.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

// From this many models on, one error is worth a line of its own.
constexpr size_t kClusterModels = 2;

struct Arguments {
  std::string job;
  int64_t limit = 0;
};

VerbResult Status(Context& context, const Arguments& arguments) {
  std::vector<JobView> jobs;
  std::optional<JobId> one;
  if (!arguments.job.empty()) {
    ASSIGN_OR_RETURN(one, ParseJobId(arguments.job));
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  if (one) {
    ASSIGN_OR_RETURN(auto job, source->GetJob(*one));
    jobs.push_back(std::move(job));
  } else {
    ASSIGN_OR_RETURN(jobs, source->Jobs(arguments.limit));
  }
  if (context.globals.json) {
    PrintJson(context, formats::StatusJson(jobs));
    return ExitCode::kDone;
  }
  std::string errors;
  if (one && jobs[0].job.coverage.failed + jobs[0].job.coverage.lost > 1) {
    ASSIGN_OR_RETURN(const auto views, source->Results(*one, false));
    const auto rows = StoreRows(views);
    errors = formats::ClusterLines(formats::ClusterErrors(rows), kClusterModels);
  }
  if (jobs.empty()) PrintNote(context, "no jobs yet; submit one: dynbenchctl submit --suite timm");
  context.out() << StatusText(jobs) << errors;
  return ExitCode::kDone;
}

}  // namespace

void AddStatus(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "status", "How far a job is, in one line, and why experiments wait; without JOB: all jobs.",
      [arguments](Context& context) { return Status(context, *arguments); });
  AddJobArgument(verb, &arguments->job, /*required=*/false);
  verb->add_option("--limit", arguments->limit, "the newest N jobs (default: 50)")
      ->type_name("N")
      ->check(PositiveNumber())
      ->group("flags");
}

}  // namespace dynbench::cli

#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/finish.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job;
  double timeout_s = 0;
};

VerbResult Wait(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "wait"));
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  ASSIGN_OR_RETURN(const FollowEnd end,
                   WaitForJob(context, job, arguments.timeout_s, /*rows=*/false));
  if (context.globals.json) {
    Json json = formats::StatusJson({end.job});
    json["timed_out"] = end.timed_out;
    PrintJson(context, json);
  } else {
    context.out() << StatusText({end.job});
  }
  return ExitOf(end);
}

}  // namespace

void AddWait(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("wait", "Wait until a job has finished; the exit code says how it went.",
                   [arguments](Context& context) { return Wait(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_option("--wait-timeout", arguments->timeout_s,
                   "give up after this time (exit 6); the job goes on (default: no limit)")
      ->type_name("SECONDS")
      ->check(PositiveNumber())
      ->group("flags");
}

}  // namespace dynbench::cli

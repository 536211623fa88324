#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/remote_source.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job, reason;
};

VerbResult Cancel(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "cancel"));
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  if (arguments.reason.find_first_not_of(" \t") == std::string::npos) {
    return absl::InvalidArgumentError("--reason must say something: it is kept with the job");
  }
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  v1::CancelJobRequest request;
  request.set_job(job.value);
  request.set_reason(arguments.reason);
  ASSIGN_OR_RETURN(const v1::Job reply, (client->Call<v1::CancelJobRequest, v1::Job>(
                                            &v1::Control::Stub::CancelJob, request)));
  const JobView view = FromProto(reply);
  if (context.globals.json) {
    PrintJson(context, formats::StatusJson({view}));
  } else if (!context.globals.quiet) {
    context.out() << StatusText({view});
  }
  return ExitCode::kDone;
}

}  // namespace

void AddCancel(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "cancel", "Stop a job: what runs is killed, what waits is dropped, results are kept.",
      [arguments](Context& context) { return Cancel(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_option("--reason", arguments->reason, "why; shown with the job")
      ->type_name("TEXT")
      ->required()
      ->group("flags");
}

}  // namespace dynbench::cli

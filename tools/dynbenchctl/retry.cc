#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/submitting.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job;
  bool failed = false, wait = false;
};

VerbResult Retry(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "retry"));
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  if (!arguments.failed) {
    return absl::InvalidArgumentError("say what to retry: --failed (failed and lost experiments)");
  }
  ASSIGN_OR_RETURN(const auto client, Client::Connect(context.globals.coordinator));
  v1::RetryJobRequest request;
  request.set_job(job.value);
  request.set_failed(true);
  ASSIGN_OR_RETURN(const v1::SubmitReply reply, (client->Call<v1::RetryJobRequest, v1::SubmitReply>(
                                                    &v1::Control::Stub::RetryJob, request)));
  if (!arguments.wait || !context.globals.json) PrintSubmitted(context, reply);
  if (!arguments.wait) return ExitCode::kDone;
  return FollowAndReport(context, JobId(reply.job()), /*timeout_s=*/0, /*output_folder=*/"");
}

}  // namespace

void AddRetry(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "retry", "Run a job's failed and lost experiments again, as a new job linked to it.",
      [arguments](Context& context) { return Retry(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_flag("--failed", arguments->failed, "failed and lost experiments")->group("flags");
  verb->add_flag("--wait", arguments->wait, "follow the new job, then print its table")
      ->group("flags");
}

}  // namespace dynbench::cli

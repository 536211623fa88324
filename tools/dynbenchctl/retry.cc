#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/plan/diagnostics.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/submitting.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

constexpr char kUsualKinds[] = "usual";  // --debug without a value

struct Arguments {
  std::string job;
  std::vector<std::string> models, debug, diagnostics;
  bool failed = false, wait = false;
};

absl::StatusOr<v1::RetryJobRequest> ToRequest(const Arguments& arguments, JobId job) {
  v1::RetryJobRequest request;
  request.set_job(job.value);
  const bool debug = !arguments.debug.empty() || !arguments.diagnostics.empty();
  if (!arguments.failed && arguments.models.empty() && !debug) {
    return absl::InvalidArgumentError(
        "say what to retry: --failed (failed and lost experiments) or --models A,B");
  }
  request.set_failed(arguments.failed || arguments.models.empty());
  request.mutable_models()->Add(arguments.models.begin(), arguments.models.end());
  if (!debug) return request;
  std::vector<std::string> kinds = arguments.diagnostics;
  for (const std::string& kind : arguments.debug) {
    const auto some = kind == kUsualKinds ? plan::DefaultDiagnostics() : std::vector{kind};
    kinds.insert(kinds.end(), some.begin(), some.end());
  }
  RETURN_IF_ERROR(plan::CheckDiagnostics(kinds));
  request.mutable_diagnostics()->Add(kinds.begin(), kinds.end());
  return request;
}

VerbResult Retry(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "retry"));
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  ASSIGN_OR_RETURN(const v1::RetryJobRequest request, ToRequest(arguments, job));
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  ASSIGN_OR_RETURN(const v1::SubmitReply reply, (client->Call<v1::RetryJobRequest, v1::SubmitReply>(
                                                    &v1::Control::Stub::RetryJob, request)));
  if (!arguments.wait || !context.globals.json) PrintSubmitted(context, reply);
  if (!arguments.wait) return ExitCode::kDone;
  return FollowAndReport(context, JobId(reply.job()), /*timeout_s=*/0, OutputFiles());
}

}  // namespace

void AddRetry(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "retry", "Run a job's failed and lost experiments again, as a new job linked to it.",
      [arguments](Context& context) { return Retry(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_flag("--failed", arguments->failed, "failed and lost experiments")->group("flags");
  verb->add_option("--models", arguments->models,
                   "only these models; without --failed also those that passed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("flags");
  CLI::Option* debug = verb->add_option("--debug", arguments->debug,
                                        "as a diagnostic rerun, which keeps artifacts (see "
                                        "`artifacts`) and times nothing; alone: all "
                                        "kinds but cache, or with = any of " +
                                            absl::StrJoin(plan::DiagnosticsKinds(), ", "));
  debug->type_name("[=KINDS]")->delimiter(',')->allow_extra_args(false)->group("flags");
  tree.OptionalValue(debug, kUsualKinds);
  verb->add_option("--diagnostics", arguments->diagnostics, "the same as --debug=KINDS")
      ->type_name("KINDS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("flags");
  verb->add_flag("--wait", arguments->wait, "follow the new job, then print its table")
      ->group("flags");
}

}  // namespace dynbench::cli

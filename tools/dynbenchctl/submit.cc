#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "common/base/status.h"
#include "common/formats/plan_table.h"
#include "common/formats/results_json.h"
#include "tools/dynbenchctl/planning.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/submit_flags.h"
#include "tools/dynbenchctl/submitting.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

std::string UserName() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? std::to_string(geteuid()) : entry->pw_name;
}

VerbResult DryRun(Context& context, const BuiltRequest& built) {
  auto plan = PlanOfCoordinator(context.globals, built.request);
  if (absl::IsUnavailable(plan.status())) {
    PrintNote(context, "no coordinator answers at " + context.globals.coordinator +
                           "; planned here from the installed suites, for CPU workers");
    plan = PlanOffline(built.request);
  }
  if (!plan.ok()) return plan.status();
  if (context.globals.json) {
    PrintJson(context, formats::PlanJson(plan->plan, plan->expected_s, plan->placements));
  } else {
    context.out() << formats::PlanTable(plan->plan, plan->expected_s, plan->placements,
                                        StyleOf(context));
  }
  return ExitCode::kDone;
}

VerbResult Submit(Context& context, const SubmitFlags& flags) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, flags.dry_run ? "plan" : "submit"));
  ASSIGN_OR_RETURN(BuiltRequest built, BuildRequest(flags, context.cwd));
  built.request.user = UserName();
  for (const std::string& note : built.notes) PrintNote(context, note);
  if (flags.dry_run) return DryRun(context, built);

  ASSIGN_OR_RETURN(const auto client, Client::Connect(context.globals.coordinator));
  ASSIGN_OR_RETURN(const v1::SubmitReply reply, SendRequest(*client, built));
  const std::string job = std::to_string(reply.job());
  if (!flags.wait) {
    PrintSubmitted(context, reply);
    PrintNote(context, "follow it with: dynbenchctl watch " + job);
    return ExitCode::kDone;
  }
  if (context.globals.json) {  // the answer is the results, at the end
    PrintNote(context, "job " + job);
  } else {
    PrintSubmitted(context, reply);
  }
  return FollowAndReport(context, JobId(reply.job()), flags.wait_timeout_s.value_or(0),
                         built.output_folder);
}

}  // namespace

void AddSubmit(CommandTree& tree) {
  auto flags = std::make_shared<SubmitFlags>();
  CLI::App* submit = tree.AddVerb(
      "submit", "Plan and run a suite. Flags are upstream's own where the meaning is the same.",
      [flags](Context& context) { return Submit(context, *flags); });
  AddSubmitFlags(tree, submit, flags.get());
  submit->footer(
      "Examples:\n"
      "  dynbenchctl submit --suite timm --models mobilenetv2_100,ghostnet_100 --wait\n"
      "  dynbenchctl submit --suite timm --performance --inference --bfloat16 --backend=inductor "
      "\\\n    --output=timm_models_inference.csv --wait");

  auto plan_flags = std::make_shared<SubmitFlags>();
  CLI::App* plan =
      tree.AddVerb("plan", "Show what submit with the same flags would run; dispatch nothing.",
                   [plan_flags](Context& context) {
                     plan_flags->dry_run = true;
                     return Submit(context, *plan_flags);
                   });
  AddSubmitFlags(tree, plan, plan_flags.get());
}

}  // namespace dynbench::cli

#include "tools/dynbenchctl/submit.h"

#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "common/base/status.h"
#include "common/formats/plan_table.h"
#include "common/formats/results_json.h"
#include "common/formats/side_by_side.h"
#include "tools/dynbenchctl/planning.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/simulation.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/submissions.h"
#include "tools/dynbenchctl/submit_flags.h"
#include "tools/dynbenchctl/submitting.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

void Add(const store::Coverage& some, store::Coverage* sum) {
  sum->planned += some.planned;
  sum->passed += some.passed;
  sum->failed += some.failed;
  sum->skipped += some.skipped;
  sum->lost += some.lost;
  sum->cancelled += some.cancelled;
  sum->waiting += some.waiting;
  sum->running += some.running;
}

std::string UserName() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? std::to_string(geteuid()) : entry->pw_name;
}

absl::StatusOr<PlanView> PlanOf(Context& context, const plan::Request& request) {
  auto plan = PlanOfCoordinator(context.globals, request);
  if (!absl::IsUnavailable(plan.status())) return plan;
  PrintNote(context, "no coordinator answers at " + context.globals.coordinator +
                         "; planned here from the installed suites, for CPU workers");
  return PlanOffline(request);
}

VerbResult DryRun(Context& context, const std::vector<BuiltRequest>& all) {
  Json plans = Json::array();
  for (const BuiltRequest& built : all) {
    ASSIGN_OR_RETURN(const PlanView plan, PlanOf(context, built.request));
    if (context.globals.json) {
      plans.push_back(
          formats::PlanJson(plan.plan, plan.expected_s, plan.placements, plan.expected_p90_s));
      continue;
    }
    if (all.size() > 1) {
      context.out() << (&built == &all.front() ? "" : "\n") << "submission " << built.request.label
                    << "\n";
    }
    context.out() << formats::PlanTable(plan.plan, plan.expected_s, plan.placements,
                                        StyleOf(context), plan.expected_p90_s);
  }
  if (context.globals.json) {
    PrintJson(context, all.size() == 1 ? plans.front()
                                       : Json{{"schema", "dynbench.plans/1"}, {"plans", plans}});
  }
  return ExitCode::kDone;
}

// All jobs are in the queue before the first is waited for.
absl::StatusOr<std::vector<v1::SubmitReply>> SendAll(Context& context,
                                                     const std::vector<BuiltRequest>& all) {
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  std::vector<v1::SubmitReply> replies;
  for (const BuiltRequest& built : all) {
    auto reply = SendRequest(*client, built);
    if (!reply.ok() && !replies.empty()) {
      PrintNote(context, "jobs " + std::to_string(replies.front().job()) + " to " +
                             std::to_string(replies.back().job()) +
                             " were submitted before this error");
    }
    RETURN_IF_ERROR(reply.status());
    replies.push_back(*std::move(reply));
  }
  return replies;
}

void PrintBothSides(Context& context, const std::vector<FollowedJob>& jobs) {
  const auto first = StoreRows(jobs[0].rows), second = StoreRows(jobs[1].rows);
  context.out() << "\n"
                << formats::SideBySideTable({"backed", &first}, {"unbacked", &second},
                                            StyleOf(context));
}

// Follows the jobs in their order; the exit code is that of all of them together.
VerbResult FollowAll(Context& context, const SubmitFlags& flags,
                     const std::vector<BuiltRequest>& all,
                     const std::vector<v1::SubmitReply>& replies) {
  std::vector<FollowedJob> jobs;
  store::Coverage sum;
  bool timed_out = false;
  Json list = Json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    ASSIGN_OR_RETURN(FollowedJob job,
                     FollowAndWrite(context, JobId(replies[i].job()),
                                    flags.wait_timeout_s.value_or(0), all[i].output));
    if (context.globals.json) {
      list.push_back(ResultsJson(job.view, job.rows));
    } else {
      PrintFollowed(context, job);
    }
    timed_out = timed_out || job.end.timed_out;
    Add(job.end.job.job.coverage, &sum);
    jobs.push_back(std::move(job));
  }
  if (context.globals.json) {
    Json json = {{"schema", "dynbench.submissions/1"}, {"jobs", std::move(list)}};
    if (flags.compare_backed_unbacked) {
      const auto first = StoreRows(jobs[0].rows), second = StoreRows(jobs[1].rows);
      json["side_by_side"] = formats::SideBySideJson({"backed", &first}, {"unbacked", &second});
    }
    PrintJson(context, json);
  } else if (flags.compare_backed_unbacked && !context.globals.quiet) {
    PrintBothSides(context, jobs);
  }
  Findings findings = FindingsOf(sum);
  findings.wait_timed_out = timed_out;
  return Decide(findings);
}

VerbResult SubmitSeveral(Context& context, const SubmitFlags& flags,
                         const std::vector<BuiltRequest>& all) {
  ASSIGN_OR_RETURN(const auto replies, SendAll(context, all));
  Json list = Json::array();
  for (const v1::SubmitReply& reply : replies) {
    list.push_back(SubmittedJson(reply));
    if (!context.globals.json) PrintSubmitted(context, reply);
  }
  if (flags.wait) return FollowAll(context, flags, all, replies);
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.submissions/1"}, {"jobs", list}});
  }
  return ExitCode::kDone;
}

}  // namespace

VerbResult Submit(Context& context, const SubmitFlags& flags) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, flags.dry_run ? "plan" : "submit"));
  if (!flags.simulate && (flags.job || flags.extra_slots)) {
    return absl::InvalidArgumentError("--job and --extra-slots go with --simulate");
  }
  if (flags.simulate && flags.job) return SimulateJob(context, flags);
  ASSIGN_OR_RETURN(std::vector<BuiltRequest> all, BuildRequests(flags, context.cwd));
  for (BuiltRequest& built : all) {
    built.request.user = UserName();
    for (const std::string& note : built.notes) PrintNote(context, note);
  }
  if (flags.simulate) return SimulateAll(context, flags, all);
  if (flags.dry_run) return DryRun(context, all);
  if (all.size() > 1) return SubmitSeveral(context, flags, all);

  const BuiltRequest& built = all.front();
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
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
                         built.output);
}

void AddSubmit(CommandTree& tree) {
  auto flags = std::make_shared<SubmitFlags>();
  CLI::App* submit = tree.AddVerb(
      "submit", "Plan and run a suite. Flags are upstream's own where the meaning is the same.",
      [flags](Context& context) { return Submit(context, *flags); });
  AddSubmitFlags(tree, submit, flags.get());
  submit->footer(
      "After -- comes the program of --engine command.\n\n"
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

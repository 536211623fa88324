#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/follow.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/progress.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

// The oldest job that is still running, else the newest one.
absl::StatusOr<JobId> JobToWatch(Context& context) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto jobs, source->Jobs(0));
  if (jobs.empty()) {
    return absl::NotFoundError(
        "there is no job to watch; submit one: dynbenchctl submit --suite "
        "timm");
  }
  JobId job = jobs.front().job.id;
  for (const JobView& view : jobs) {
    if (view.job.state == "running") job = view.job.id;
  }
  return job;
}

// One JSON object a line: {"schema": "dynbench.watch/1", "job": …, "rows": […]}.
void PrintEvent(Context& context, const JobView& job, const std::vector<RowView>& changed) {
  const Json results = ResultsJson(job, changed);
  const Json event = {{"schema", "dynbench.watch/1"},
                      {"job", results["job"]},
                      {"coverage", results["coverage"]},
                      {"rows", results["results"]}};
  context.out() << formats::JsonLine(event);
  context.out().flush();
}

VerbResult Watch(Context& context, const std::string& text) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "watch"));
  JobId job;
  if (text.empty()) {
    ASSIGN_OR_RETURN(job, JobToWatch(context));
  } else {
    ASSIGN_OR_RETURN(job, ParseJobId(text));
  }
  const Terminal& terminal = context.terminal;
  const bool json = context.globals.json;
  const bool live = terminal.out_is_terminal && !json;
  Progress progress(live ? &context.out() : nullptr, live || json ? nullptr : &context.out(),
                    terminal.width, terminal.height);
  const auto end = Follow(context.globals.coordinator, {job, true, 0, context.globals.tls},
                          [&](const JobView& view, const std::vector<RowView>& changed) {
                            progress.Update(view, changed);
                            if (json) PrintEvent(context, view, changed);
                          });
  // The last picture stays on the terminal; a pipe gets the counts as its last line.
  if (end.ok() && !live && !json) context.out() << StatusText({end->job});
  if (!end.ok()) return end.status();
  return ExitCode::kDone;
}

}  // namespace

void AddWatch(CommandTree& tree) {
  auto job = std::make_shared<std::string>();
  CLI::App* verb = tree.AddVerb(
      "watch", "Follow a job live, failures first; without a terminal one line for each result.",
      [job](Context& context) { return Watch(context, *job); });
  AddJobArgument(verb, job.get(), /*required=*/false);
  verb->footer("Without JOB: the oldest one that is running, else the newest.");
}

}  // namespace dynbench::cli

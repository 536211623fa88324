#include <algorithm>
#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job, model, test;
  bool follow = false;
};

// Following is for one log: the one that is being written, else the next to come.
const RowView& ToFollow(const std::vector<RowView>& rows) {
  const RowView* best = &rows.front();
  for (const RowView& row : rows) {
    auto rank = [](const RowView& r) {
      return r.row.state == "running" ? 0 : !r.row.result ? 1 : 2;
    };
    if (rank(row) < rank(*best)) best = &row;
  }
  return *best;
}

VerbResult Logs(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  if (context.globals.json) {
    return absl::InvalidArgumentError("--json would have no effect: a log is bytes");
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto all, source->Results(job, false));
  ASSIGN_OR_RETURN(auto rows, RowsOfModel(all, arguments.model, arguments.test));
  if (arguments.follow) {
    rows = {ToFollow(rows)};
  } else {
    const bool none_done = std::none_of(rows.begin(), rows.end(),
                                        [](const RowView& r) { return r.row.result.has_value(); });
    if (none_done) {
      return absl::InvalidArgumentError(arguments.model + " is " + rows.front().row.state +
                                        "; its log is kept when it has ended, -f follows it now");
    }
    std::erase_if(rows, [](const RowView& r) { return !r.row.result; });
  }
  // A log may hold anything; what goes to a terminal must not drive it, a pipe gets every byte.
  const bool clean = context.terminal.out_is_terminal;
  for (const RowView& row : rows) {
    if (rows.size() > 1) {
      context.out() << "==> " << plan::DisplayName(row.row.experiment) << " <==\n";
    }
    size_t bytes = 0;
    RETURN_IF_ERROR(source->Log(row.row.id, arguments.follow, [&](std::string_view data) {
      bytes += data.size();
      std::string text(data);
      if (clean) {
        std::replace_if(
            text.begin(), text.end(),
            [](char c) {
              return (c >= 0 && c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7F;
            },
            '?');
      }
      context.out() << text;
      context.out().flush();
    }));
    if (bytes == 0) {
      PrintNote(context, plan::DisplayName(row.row.experiment) + " (" + row.row.state +
                             ") has written nothing");
    }
  }
  return ExitCode::kDone;
}

}  // namespace

void AddLogs(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("logs", "What a model of a job printed (stdout and stderr).",
                   [arguments](Context& context) { return Logs(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_option("MODEL", arguments->model, "exact name of the model")->required();
  AddTestFlag(tree, verb, &arguments->test, "only this test: performance or accuracy");
  verb->add_flag("-f,--follow", arguments->follow,
                 "print what is written until the experiment has ended")
      ->group("flags");
}

}  // namespace dynbench::cli

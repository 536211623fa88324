#include <filesystem>
#include <memory>

#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/output_flags.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string job, format = "upstream", output;
  OutputFlags flags;
};

VerbResult Export(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const JobId id, ParseJobId(arguments.job));
  OutputFiles output;
  output.folder = AbsolutePath(context, arguments.output);
  output.dashboard_names = true;
  RETURN_IF_ERROR(SetOutput(context, arguments.flags, &output));
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const JobView job, source->GetJob(id));
  ASSIGN_OR_RETURN(const auto rows, source->Results(id, arguments.flags.raw_timings));
  std::error_code error;
  std::filesystem::create_directories(output.folder, error);
  if (error) {
    return absl::UnavailableError("--output " + output.folder + ": " + error.message());
  }
  ASSIGN_OR_RETURN(const auto paths, WriteOutput(output, rows));
  const store::Coverage& c = job.job.coverage;
  if (c.waiting + c.running > 0) {
    PrintNote(context, "the job has not finished: " + std::to_string(c.waiting + c.running) +
                           " experiments are not in these files; export it again later");
  }
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.export/1"}, {"job", id.value}, {"files", paths}});
  } else if (!context.globals.quiet) {
    for (const std::string& path : paths) context.out() << path << "\n";
  }
  return ExitCode::kDone;
}

}  // namespace

void AddExport(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("export", "Write a job's results as the files that upstream's tools read.",
                   [arguments](Context& context) { return Export(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  tree.Choices(verb->add_option("--format", arguments->format,
                                "upstream: CSV and JSON under the names of upstream's CI (default)")
                   ->type_name("WORD")
                   ->group("flags"),
               {"upstream"});
  verb->add_option("--output", arguments->output, "folder; made if it is missing")
      ->type_name("DIR")
      ->required()
      ->group("flags");
  AddOutputFlags(verb, &arguments->flags);
}

}  // namespace dynbench::cli

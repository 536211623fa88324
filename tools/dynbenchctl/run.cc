#include "tools/dynbenchctl/run.h"

#include "tools/dynbenchctl/command_tree.h"

namespace dynbench::cli {

int RunCommand(const std::vector<std::string>& arguments, const Terminal& terminal,
               const std::string& cwd, const std::string& program_path) {
  CommandTree tree;
  AddAllVerbs(tree);
  Context context{{}, terminal, cwd, program_path};
  auto fail = [&](const absl::Status& status) {
    PrintError(context, std::string(status.message()));
    return static_cast<int>(ForStatus(status));
  };
  CommandTree::Run run;
  const absl::Status parsed = tree.Parse(arguments, &run);
  if (!parsed.ok()) return fail(parsed);
  context.globals = tree.globals();
  if (!context.globals.db.empty()) context.globals.db = AbsolutePath(context, context.globals.db);
  const VerbResult result = run(context);
  context.out().flush();
  if (!result.ok()) return fail(result.status());
  return static_cast<int>(*result);
}

}  // namespace dynbench::cli

#include <memory>

#include "common/plan/nearest.h"
#include "tools/dynbenchctl/completion_script.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {

void AddCompletion(CommandTree& tree) {
  auto shell = std::make_shared<std::string>();
  CommandTree* const all = &tree;  // the tree owns the function that uses it
  CLI::App* verb = tree.AddVerb(
      "completion", "Print completion for a shell: source <(dynbenchctl completion bash)",
      [shell, all](Context& context) -> VerbResult {
        if (context.globals.json) {
          return absl::InvalidArgumentError("--json would have no effect: a script is text");
        }
        if (*shell == "bash") {
          context.out() << BashCompletion(*all);
        } else if (*shell == "zsh") {
          context.out() << ZshCompletion(*all);
        } else if (*shell == "fish") {
          context.out() << FishCompletion(*all);
        } else {
          return absl::InvalidArgumentError("there is no completion for '" + *shell + "'" +
                                            plan::DidYouMean(*shell, {"bash", "zsh", "fish"}) +
                                            "; one of bash, zsh, fish");
        }
        return ExitCode::kDone;
      });
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required();
}

}  // namespace dynbench::cli

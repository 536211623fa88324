// Shell completion, generated from the command tree, so that it never lags behind it. Pure.
#pragma once

#include <string>

#include "tools/dynbenchctl/command_tree.h"

namespace dynbench::cli {

std::string BashCompletion(const CommandTree& tree);
std::string ZshCompletion(const CommandTree& tree);
std::string FishCompletion(const CommandTree& tree);

}  // namespace dynbench::cli

// One command line, from its words to its exit code.
#pragma once

#include <string>
#include <vector>

#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

// Parses `arguments` (without the program's name), runs the verb and prints its error, if any.
int RunCommand(const std::vector<std::string>& arguments, const Terminal& terminal,
               const std::string& cwd, const std::string& program_path);

}  // namespace dynbench::cli

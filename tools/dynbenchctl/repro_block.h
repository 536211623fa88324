// The pasteable block of `repro`: everything that somebody else needs to measure the same thing
// again. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// The arguments (without "dynbenchctl") of a submit that plans exactly this experiment.
std::vector<std::string> ReproArguments(const plan::Experiment& experiment);

// `word` quoted for a POSIX shell where that is needed.
std::string ShellQuote(const std::string& word);

// Comments with what was measured on and what came out, then the command.
std::string ReproBlock(const ExperimentView& view);

// dynbench.repro/1.
Json ReproJson(const ExperimentView& view);

}  // namespace dynbench::cli

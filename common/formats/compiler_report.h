// What Result::compiler_report says, read tolerantly: it comes from a process that runs other
// people's models, so anything in it may be missing or of another type, which reads as empty.
//
// docs/schema.md lists its keys. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/plan/result.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

// The report as JSON; an empty object when there is none.
nlohmann::json CompilerReport(const plan::Result& result);

// Seconds by phase of the compiler.
std::map<std::string, double> CompilePhases(const plan::Result& result);

struct GraphBreak {
  std::string reason;
  std::string user_stack;  // a line for each frame
};
std::vector<GraphBreak> GraphBreaks(const plan::Result& result);

std::vector<std::string> RecompileReasons(const plan::Result& result);

// The report as people read it: the longest phases, each graph break's reason with how often it
// came, recompiles and chosen kernels, a line each, indented by two. Empty without a report.
std::string CompilerReportText(const plan::Result& result);

}  // namespace dynbench::formats

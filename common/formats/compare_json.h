// A comparison for programs. Pure.
#pragma once

#include <string>

#include "common/judge/compare.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

// {"schema": "dynbench.compare/1", "base", "new", "rules", "gate", "notes", "software", "common",
// "summary", "findings", "results", "left_out"}; docs/cli.md lists the keys. Changes are shares
// (0.02 is 2 %); what is not known is absent.
nlohmann::json CompareJson(const judge::Comparison& comparison);

// A line for each metric of each pair, then one for each experiment that was left out (verdict
// "left_out"): the numbers of the JSON, changes in percent.
std::string CompareCsv(const judge::Comparison& comparison);

}  // namespace dynbench::formats

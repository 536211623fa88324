// Environments of the fleet as people and programs read them.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "dynbench/v1/control.pb.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

// A table; empty for none.
std::string FleetEnvironmentsText(const std::vector<v1::FleetEnvironment>& environments,
                                  const formats::TableStyle& style);
// One in full: recipe or derivation, and each worker's state.
std::string FleetEnvironmentText(const v1::FleetEnvironment& environment);
Json FleetEnvironmentJson(const v1::FleetEnvironment& environment);
// Of dynbench.environments/1: the array "fleet".
Json FleetEnvironmentsJson(const std::vector<v1::FleetEnvironment>& environments);

// Whether nothing more happens to it by itself: it failed, or is ready and every worker that is
// connected has it or has said why not.
bool IsSettled(const v1::FleetEnvironment& environment);

}  // namespace dynbench::cli

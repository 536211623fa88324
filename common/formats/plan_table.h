// The plan of a dry run as people read it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/plan/expand.h"

namespace dynbench::formats {

// One row per experiment, then why some are skipped, warnings, what can take the plan
// (`placements`) and how long it is expected to take. Words that do not vary are said once, on top.
std::string PlanTable(const plan::Plan& plan, std::optional<double> expected_s,
                      const std::vector<std::string>& placements, const TableStyle& style,
                      std::optional<double> expected_p90_s = {});

}  // namespace dynbench::formats

// How SeriesKey is made, in steps. Private to common/plan.
#pragma once

#include <string>
#include <string_view>

#include "common/plan/experiment.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan::internal {

// What the key of a series is made of: the fields that are not at their default, less those that do
// not belong to it.
nlohmann::json SeriesJson(const Experiment& experiment);

// Brings one field in it up to date; `experiment` has its new value, and the same engine as before.
void SetInSeries(std::string_view name, const nlohmann::json& value, const Experiment& experiment,
                 nlohmann::json* series);

std::string KeyOfSeries(const nlohmann::json& series);

}  // namespace dynbench::plan::internal

// The JSON that scripts rely on (docs/cli.md): dynbench.plan/1, dynbench.results/1 and
// dynbench.status/1. Every table has less in it than its JSON. Keys are only ever added.
//
// Pure. An absent measurement is an absent key; what is not known yet is null.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plan/expand.h"
#include "common/store/queries.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

// {"schema": "dynbench.plan/1", "experiments": […], "planned", "skipped", "partitions", "warnings",
// "expected_s", "expected_p90_s" (null: unknown), "placements"}.
nlohmann::json PlanJson(const plan::Plan& plan, std::optional<double> expected_s,
                        const std::vector<std::string>& placements,
                        std::optional<double> expected_p90_s = {});

// {"schema": "dynbench.results/1", "job", "coverage", "results"}.
nlohmann::json ResultsJson(const store::JobRow& job, const std::vector<store::ResultRow>& rows);

// One element of `results`: what a watcher prints per line. With samples when the row has them.
nlohmann::json ResultJson(const store::ResultRow& row);

nlohmann::json CoverageJson(const store::Coverage& coverage);

// A job with what only the coordinator knows of it.
struct JobProgress {
  store::JobRow job;
  std::optional<double> eta_s;               // median; none: unknown, or nothing is left to do
  std::vector<std::string> waiting_reasons;  // why experiments wait
  std::optional<double> eta_p90_s = {};      // of nine nights in ten
};

// {"schema": "dynbench.status/1", "jobs": […]}.
nlohmann::json StatusJson(const std::vector<JobProgress>& jobs);

// The text of a JSON value, 2 blanks of indentation, '\n' at the end. Bytes of a model's messages
// that are no UTF-8 become U+FFFD.
std::string JsonText(const nlohmann::json& json);
// The same on one line, for streams of JSON lines.
std::string JsonLine(const nlohmann::json& json);

}  // namespace dynbench::formats

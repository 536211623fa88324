// Which models of a suite a job covers, and why it does not cover the others: what ran, what was
// skipped for which reason, what the selection left out, and names that the suite does not have.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/store/queries.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

struct ModelCoverage {
  std::string model;
  // "ran", "running", "waiting", "skipped", "cancelled", "not planned", "not in suite"
  std::string state;
  std::string reason;  // of "skipped", "cancelled" and "not planned"
  store::Coverage counts;
};

// The models of the job in its order; then those of `suite_models` that it did not plan; then those
// of `asked` that are neither, each list's order kept and each model once. A model of which
// anything was tried has run. Pass empty lists where they are not known.
std::vector<ModelCoverage> CoverageOfModels(const std::vector<store::ResultRow>& rows,
                                            const std::vector<std::string>& suite_models,
                                            const std::vector<std::string>& asked);

std::string CoverageTable(const store::JobRow& job, const std::vector<ModelCoverage>& models,
                          const TableStyle& style);

// {"schema": "dynbench.coverage/1", "job", "coverage" (as in dynbench.results/1), "models": […]}.
nlohmann::json CoverageOfModelsJson(const store::JobRow& job,
                                    const std::vector<ModelCoverage>& models);

}  // namespace dynbench::formats

// The plan of a request: the coordinator's, which knows the fleet, or one made here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/expand.h"
#include "common/plan/request.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

struct PlanView {
  plan::Plan plan;
  std::optional<double> expected_s;      // predicted makespan; none: unknown
  std::optional<double> expected_p90_s;  // of nine nights in ten
  std::vector<std::string> placements;   // which workers can take what
};

// Asks the coordinator. Unavailable when none answers.
absl::StatusOr<PlanView> PlanOfCoordinator(const Globals& globals, const plan::Request& request);

// Expands with the installed suites, for a CPU fleet of this machine's architecture, without
// predictions.
absl::StatusOr<PlanView> PlanOffline(const plan::Request& request);

}  // namespace dynbench::cli

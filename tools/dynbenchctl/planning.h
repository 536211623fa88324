// The plan of a request: the coordinator's, which knows the fleet, or one made here.
#pragma once

#include "absl/status/statusor.h"
#include "common/plan/request.h"
#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/plan_view.h"

namespace dynbench::cli {

// Asks the coordinator. Unavailable when none answers.
absl::StatusOr<PlanView> PlanOfCoordinator(const Globals& globals, const plan::Request& request);

// Expands with the installed suites, for a CPU fleet of this machine's architecture, without
// predictions.
absl::StatusOr<PlanView> PlanOffline(const plan::Request& request);

}  // namespace dynbench::cli

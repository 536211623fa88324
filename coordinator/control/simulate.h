// `plan --simulate`: a plan, or a job of the past, through the scheduler in virtual time on the
// slots that there are now (coordinator/scheduler/simulator.h).
#pragma once

#include "absl/status/status.h"
#include "common/store/store.h"
#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// A request is simulated with the durations that are predicted for it, a job of the past with those
// that its experiments took (predicted ones where they did not run). InvalidArgument: neither or
// both are given, an unknown policy. FailedPrecondition: no worker is connected.
absl::Status SimulatePlan(const Context& context, store::Database& db,
                          const v1::SimulateRequest& request, v1::SimulateReply* reply);

}  // namespace dynbench::control

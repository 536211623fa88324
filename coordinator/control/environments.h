// Verbs about environments of the fleet: what is dropped, and which objects nobody needs then.
#pragma once

#include "absl/status/status.h"
#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// NotFound names a wheel or patch that has not been sent.
absl::Status CheckObjectsAreThere(const Context& context, const v1::BuildEnvironmentRequest& r);
absl::Status CheckObjectsAreThere(const Context& context, const v1::DeriveEnvironmentRequest& r);

// Drops the environments that no waiting or running job names and that were not used for the time;
// one that is being made is kept. Then removes objects of the coordinator that none needs. Waits
// for the commit; blocks for as long as a walk over the objects takes.
absl::Status CollectEnvironments(const Context& context, store::Database& db,
                                 const v1::CollectEnvironmentsRequest& request,
                                 v1::CollectEnvironmentsReply* reply);

}  // namespace dynbench::control

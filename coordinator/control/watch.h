// WatchJob: the state now, then every change, until the job is finished.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// `context` outlives the call. Deletes itself. UNAVAILABLE when the coordinator stops: the watcher
// may come back.
grpc::ServerWriteReactor<v1::WatchEvent>* NewWatch(const Context* context,
                                                   const v1::WatchJobRequest& request);

}  // namespace dynbench::control

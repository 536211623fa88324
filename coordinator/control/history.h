// Results of the past for dynbenchctl, in pages.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// Answers ListHistory on the query pool, a page of kPageRows at a time; deletes itself. Tracebacks
// and the compiler's reports are left out.
grpc::ServerWriteReactor<v1::HistoryPage>* NewHistory(const Context* context,
                                                      const v1::ListHistoryRequest& request);

}  // namespace dynbench::control

// GetLog: the stored log of an experiment, or, with `follow`, the live one through its worker until
// the experiment has its result.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

inline constexpr size_t kLogChunkBytes = 64 << 10;
// What may wait for a client that follows and does not read; the rest is left out, with a note.
inline constexpr size_t kLogBacklogBytes = 4 << 20;

// `context` outlives the call. FAILED_PRECONDITION: it runs or waits, and `follow` was not asked
// for. Deletes itself.
grpc::ServerWriteReactor<v1::GetLogChunk>* NewLogStream(const Context* context,
                                                        const v1::GetLogRequest& request);

}  // namespace dynbench::control

// PutFile: a model file that travels with a job, in chunks, kept under its content address.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "coordinator/ingest/ingest.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

inline constexpr size_t kFileLimitBytes = 64 << 20;

// Answers when the file is committed. INVALID_ARGUMENT: empty, or larger than kFileLimitBytes.
// Deletes itself.
grpc::ServerReadReactor<v1::PutFileChunk>* NewPutFile(ingest::Ingest* ingest,
                                                      v1::PutFileReply* reply);

}  // namespace dynbench::control

// The WorkerSession service: one callback reactor per worker stream, and FetchFile.
//
// The reactor checks what can be checked without knowing the other workers (version, id), then
// hands everything to the dispatcher in the order of arrival. Its outgoing queue is ordered and
// bounded: a worker that does not read is cut off, and comes back.
#pragma once

#include "coordinator/session/dispatcher.h"
#include "coordinator/session/query_pool.h"
#include "dynbench/v1/session.grpc.pb.h"

namespace dynbench::session {

// Messages that may wait for a worker which does not read.
inline constexpr size_t kOutgoingLimit = 4096;

// The verdict on a Hello from what it says of itself: a newer protocol is refused, one version
// behind is degraded, older ones and ids that no state folder makes are refused; `reason` says what
// to do. Pure.
v1::Welcome JudgeHello(const v1::Hello& hello, int our_protocol_version);

class WorkerSessionService : public v1::WorkerSession::CallbackService {
 public:
  // Both outlive the service.
  WorkerSessionService(Dispatcher* dispatcher, QueryPool* pool)
      : dispatcher_(dispatcher), pool_(pool) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Connect(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<v1::FileChunk>* FetchFile(grpc::CallbackServerContext* context,
                                                     const v1::FetchFileRequest* request) override;

 private:
  Dispatcher* const dispatcher_;
  QueryPool* const pool_;
};

}  // namespace dynbench::session

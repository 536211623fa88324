// The WorkerSession service: one callback reactor per worker stream, FetchFile, and the calls
// for objects (object_calls.h).
//
// The reactor checks what can be checked without knowing the other workers (version, id), then
// hands everything to the dispatcher in the order of arrival. Its outgoing queue is ordered and
// bounded: a worker that does not read is cut off, and comes back.
#pragma once

#include "common/base/object_folder.h"
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
  // All outlive the service.
  WorkerSessionService(Dispatcher* dispatcher, QueryPool* pool, const ObjectFolder* objects)
      : dispatcher_(dispatcher), pool_(pool), objects_(objects) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Connect(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<v1::FileChunk>* FetchFile(grpc::CallbackServerContext* context,
                                                     const v1::FetchFileRequest* request) override;
  grpc::ServerUnaryReactor* FindObjects(grpc::CallbackServerContext* context,
                                        const v1::FindObjectsRequest* request,
                                        v1::FindObjectsReply* reply) override;
  grpc::ServerReadReactor<v1::ObjectPieces>* PutObjects(grpc::CallbackServerContext* context,
                                                        v1::PutObjectsReply* reply) override;
  grpc::ServerWriteReactor<v1::ObjectPieces>* FetchObjects(
      grpc::CallbackServerContext* context, const v1::FetchObjectsRequest* request) override;

 private:
  Dispatcher* const dispatcher_;
  QueryPool* const pool_;
  const ObjectFolder* const objects_;
};

}  // namespace dynbench::session

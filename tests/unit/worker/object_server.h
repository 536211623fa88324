// The part of a coordinator that keeps objects, in this process: what a test gives it, in memory.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/sha256.h"
#include "dynbench/v1/session.grpc.pb.h"

namespace dynbench::worker {

// Thread-safe.
class ObjectServer : public v1::WorkerSession::Service {
 public:
  ObjectServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~ObjectServer() override { server_->Shutdown(); }

  std::shared_ptr<grpc::Channel> channel() const {
    return grpc::CreateChannel("127.0.0.1:" + std::to_string(port_),
                               grpc::InsecureChannelCredentials());
  }
  void Add(const std::string& text) EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    objects_[Sha256Hex(text)] = text;
  }
  // The next so many calls.
  void FailNext(int calls, grpc::Status status) EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    failing_ = calls;
    failure_ = std::move(status);
  }

  grpc::Status FindObjects(grpc::ServerContext* /*call*/, const v1::FindObjectsRequest* request,
                           v1::FindObjectsReply* reply) override {
    const MutexLock lock(mu_);
    if (failing_-- > 0) return failure_;
    for (const std::string& digest : request->sha256()) {
      if (objects_.count(digest) == 0) reply->add_missing(digest);
    }
    return grpc::Status::OK;
  }

  grpc::Status FetchObjects(grpc::ServerContext* /*call*/, const v1::FetchObjectsRequest* request,
                            grpc::ServerWriter<v1::ObjectPieces>* writer) override {
    const MutexLock lock(mu_);
    if (failing_-- > 0) return failure_;
    for (const std::string& digest : request->sha256()) {
      const auto found = objects_.find(digest);
      if (found == objects_.end()) return {grpc::StatusCode::NOT_FOUND, "no object " + digest};
      v1::ObjectPieces pieces;
      v1::ObjectPiece& piece = *pieces.add_pieces();
      piece.set_sha256(digest);
      piece.set_data(found->second);
      piece.set_last(true);
      writer->Write(pieces);
    }
    return grpc::Status::OK;
  }

 private:
  Mutex mu_;
  std::map<std::string, std::string> objects_ GUARDED_BY(mu_);
  int failing_ GUARDED_BY(mu_) = 0;
  grpc::Status failure_ GUARDED_BY(mu_);
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace dynbench::worker

// Moves content-addressed files between this worker's objects and the coordinator's: only what the
// other side has not, many in a call, and again after an interruption from where it was.
//
// Blocks; one caller at a time. Cancel is thread-safe and final.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "dynbench/v1/session.grpc.pb.h"
#include "worker/environments/object_store.h"

namespace dynbench::worker {

struct ObjectToMove {
  std::string sha256;
  bool executable = false;  // which inode it becomes here
  int64_t size_bytes = kAnySize;
  std::string path = {};  // of one that is sent
};

class ObjectTransfer {
 public:
  using Progress = std::function<void(int64_t done, int64_t all, int64_t bytes)>;

  // `again` is told why something is tried again, on the thread that moves it.
  ObjectTransfer(std::shared_ptr<grpc::Channel> channel, const ObjectStore* store,
                 std::function<void(const absl::Status&)> again = nullptr)
      : stub_(v1::WorkerSession::NewStub(std::move(channel))),
        store_(store),
        again_(std::move(again)) {}

  // All try again for ever while the coordinator is away (it resumes), until Cancel. Otherwise the
  // coordinator's words: NotFound, DataLoss, ResourceExhausted (its disk), …; Internal is a disk
  // that cannot be used, here or there, which no trying mends.
  absl::Status Send(const std::vector<ObjectToMove>& objects, const Progress& progress);
  absl::Status Fetch(const std::vector<ObjectToMove>& objects, const Progress& progress);
  // Those that the coordinator has not, each once.
  absl::Status Missing(const std::vector<ObjectToMove>& objects,
                       std::vector<ObjectToMove>* missing);

  void Cancel() EXCLUDES(mu_);

 private:
  absl::Status Again(const std::function<absl::Status()>& once);
  absl::Status FindMissing(const std::vector<ObjectToMove>& objects,
                           std::vector<ObjectToMove>* missing);
  absl::Status SendBatch(const std::vector<ObjectToMove>& objects, size_t first, size_t end);
  absl::Status FetchBatch(const std::vector<ObjectToMove>& objects, size_t first, size_t end);
  // A call's context, known to Cancel while it lives.
  class Call;

  const std::unique_ptr<v1::WorkerSession::Stub> stub_;
  const ObjectStore* const store_;
  const std::function<void(const absl::Status&)> again_;
  std::atomic<bool> cancelled_{false};
  Mutex mu_;
  CondVar wake_;
  grpc::ClientContext* context_ GUARDED_BY(mu_) = nullptr;
};

}  // namespace dynbench::worker

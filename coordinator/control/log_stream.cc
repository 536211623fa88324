#include "coordinator/control/log_stream.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/mutex.h"
#include "common/base/status.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::control {
namespace {

using session::ToGrpc;

// Bytes on their way to one client. Fed by the store (all at once) or by the dispatcher (as they
// come); written one chunk at a time.
class LogStream : public grpc::ServerWriteReactor<v1::GetLogChunk> {
 public:
  LogStream(const Context* context, const v1::GetLogRequest& request)
      : context_(context), experiment_(request.experiment()), follow_(request.follow()) {}

  void Begin() {
    const absl::Status queued = context_->pool->Run([this](store::Database& db) { Open(db); });
    if (!queued.ok()) End(queued);
  }

  void Append(const std::string& bytes) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (end_) return;
    if (follow_ && waiting_.size() + bytes.size() > kLogBacklogBytes) {
      left_out_ += bytes.size();
      return;
    }
    if (left_out_ > 0) {
      waiting_ += absl::StrCat("\n[dynbench: ", left_out_,
                               " bytes are left out here: they came faster than they were read]\n");
      left_out_ = 0;
    }
    waiting_ += bytes;
    AdvanceLocked();
  }

  void End(const absl::Status& status) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (!end_) end_ = ToGrpc(status);
    AdvanceLocked();
  }

  void OnWriteDone(bool ok) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok) CancelLocked();
    AdvanceLocked();
  }

  void OnCancel() override EXCLUDES(mu_) {
    std::shared_ptr<session::LogFollower> follower;
    {
      MutexLock lock(mu_);
      CancelLocked();
      follower = follower_;
      // While it is being opened, Open ends the call.
      if (opened_) AdvanceLocked();
    }
    if (follower != nullptr) context_->dispatcher->UnfollowLog(experiment_, std::move(follower));
  }

  void OnDone() override;

 private:
  class Follower;

  void Open(store::Database& db) EXCLUDES(mu_);
  absl::StatusOr<bool> OpenStored(store::Database& db);
  void CancelLocked() REQUIRES(mu_) {
    waiting_.clear();
    end_ = grpc::Status::CANCELLED;
  }

  void AdvanceLocked() REQUIRES(mu_) {
    if (writing_ || finished_) return;
    if (!waiting_.empty()) {
      const size_t size = std::min(waiting_.size(), kLogChunkBytes);
      chunk_.set_data(waiting_.substr(0, size));
      waiting_.erase(0, size);
      writing_ = true;
      return StartWrite(&chunk_);
    }
    if (!end_) return;
    finished_ = true;
    Finish(*end_);
  }

  const Context* const context_;
  const ExperimentId experiment_;
  const bool follow_;

  Mutex mu_;
  std::shared_ptr<session::LogFollower> follower_ GUARDED_BY(mu_);
  v1::GetLogChunk chunk_ GUARDED_BY(mu_);
  std::string waiting_ GUARDED_BY(mu_);
  size_t left_out_ GUARDED_BY(mu_) = 0;
  std::optional<grpc::Status> end_ GUARDED_BY(mu_);
  bool opened_ GUARDED_BY(mu_) = false;
  bool writing_ GUARDED_BY(mu_) = false;
  bool finished_ GUARDED_BY(mu_) = false;
};

// The dispatcher may hold this longer than the call lives; Detach cuts the tie.
class LogStream::Follower : public session::LogFollower {
 public:
  explicit Follower(LogStream* stream) : stream_(stream) {}

  void Bytes(const std::string& bytes) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (stream_ != nullptr) stream_->Append(bytes);
  }
  void End() override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (stream_ != nullptr) stream_->End(absl::OkStatus());
  }
  void Detach() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    stream_ = nullptr;
  }

 private:
  Mutex mu_;
  LogStream* stream_ GUARDED_BY(mu_);
};

void LogStream::OnDone() {
  std::shared_ptr<session::LogFollower> follower;
  {
    MutexLock lock(mu_);
    follower = std::move(follower_);
  }
  if (follower != nullptr) static_cast<Follower&>(*follower).Detach();
  delete this;
}

// True: the whole log was in the store. False: it must be followed.
absl::StatusOr<bool> LogStream::OpenStored(store::Database& db) {
  ASSIGN_OR_RETURN(const store::ResultRow row, store::GetExperiment(db, experiment_));
  if (row.state == "done") {
    ASSIGN_OR_RETURN(const std::string log, store::GetLog(db, experiment_));
    MutexLock lock(mu_);
    waiting_ = log;
    return true;
  }
  if (follow_) return false;
  return absl::FailedPreconditionError(
      absl::StrCat(plan::DisplayName(row.experiment),
                   row.state == "running" ? " is running; follow its log with -f"
                                          : " has not started; follow its log with -f",
                   " or wait until it is done"));
}

void LogStream::Open(store::Database& db) {
  const absl::StatusOr<bool> stored = OpenStored(db);
  MutexLock lock(mu_);
  opened_ = true;
  if (!end_ && stored.ok() && !*stored) {
    follower_ = std::make_shared<Follower>(this);
    // Under the lock, so that OnCancel's UnfollowLog comes after it.
    return context_->dispatcher->FollowLog(experiment_, follower_);
  }
  if (!end_) end_ = ToGrpc(stored.status());
  AdvanceLocked();
}

}  // namespace

grpc::ServerWriteReactor<v1::GetLogChunk>* NewLogStream(const Context* context,
                                                        const v1::GetLogRequest& request) {
  auto* stream = new LogStream(context, request);
  stream->Begin();
  return stream;
}

}  // namespace dynbench::control

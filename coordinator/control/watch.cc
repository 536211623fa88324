#include "coordinator/control/watch.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/status.h"
#include "coordinator/control/jobs.h"
#include "coordinator/control/results.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::control {
namespace {

using session::ToGrpc;

// Subscribes first and reads the store then, so that no change falls between the two; a change that
// is seen twice is harmless. One event is written at a time; what comes meanwhile is coalesced by
// the subscription.
class Watch : public grpc::ServerWriteReactor<v1::WatchEvent> {
 public:
  Watch(const Context* context, const v1::WatchJobRequest& request)
      : context_(context),
        job_(request.job()),
        rows_(request.rows()),
        walk_(context, JobId(request.job()), /*with_samples=*/false) {}

  void Begin() {
    auto subscription = context_->feed->Subscribe(job_, rows_, [this] { Advance(); });
    {
      MutexLock lock(mu_);
      subscription_ = std::move(subscription);
      busy_ = true;
    }
    ReadStore();
  }

  void OnWriteDone(bool ok) override EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      if (!ok) end_ = grpc::Status::CANCELLED;
      busy_ = false;
    }
    Advance();
  }

  void OnCancel() override EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      end_ = grpc::Status::CANCELLED;
    }
    Advance();
  }

  void OnDone() override EXCLUDES(mu_) {
    context_->feed->Unsubscribe(subscription_);
    { MutexLock lock(mu_); }  // whoever finished the call may still be about to leave
    delete this;
  }

 private:
  // Fills the next event from the store while the initial state is not complete; on a query thread.
  void ReadStore() EXCLUDES(mu_) {
    const absl::Status queued = context_->pool->Run([this](store::Database& db) {
      v1::WatchEvent event;
      const absl::Status status = FillInitial(db, &event);
      {
        MutexLock lock(mu_);
        if (!status.ok()) {
          end_ = ToGrpc(status);
        } else if (event.has_job() || event.rows_size() > 0) {
          outgoing_.push_back(std::move(event));
        }
        busy_ = false;
      }
      Advance();
    });
    if (queued.ok()) return;
    {
      MutexLock lock(mu_);
      end_ = ToGrpc(queued);
      busy_ = false;
    }
    Advance();
  }

  absl::Status FillInitial(store::Database& db, v1::WatchEvent* event) {
    if (!std::exchange(job_sent_, true)) {
      ASSIGN_OR_RETURN(*event->mutable_job(), LoadJob(*context_, db, job_));
      finished_at_start_ = event->job().finished_unix_ms() != 0;
      if (rows_) return absl::OkStatus();
    } else {
      // Rows that wait are what was planned: no news.
      bool some = true;
      while (some && event->rows().empty()) {
        ASSIGN_OR_RETURN(some, walk_.Next(db, event->mutable_rows()));
        auto& rows = *event->mutable_rows();
        rows.erase(std::remove_if(rows.begin(), rows.end(),
                                  [](const v1::ResultRow& row) { return row.state() == "waiting"; }),
                   rows.end());
      }
      if (some) return absl::OkStatus();
    }
    MutexLock lock(mu_);
    initial_done_ = true;
    last_ = finished_at_start_;
    return absl::OkStatus();
  }

  // Does the one thing that can be done next: write, read on, or finish.
  void Advance() EXCLUDES(mu_) {
    bool read = false;
    {
      MutexLock lock(mu_);
      if (busy_ || finished_) return;
      if (end_) return FinishLocked(*end_);
      if (outgoing_.empty() && initial_done_ && !last_) TakeChangesLocked();
      if (!outgoing_.empty()) {
        event_ = std::move(outgoing_.front());
        outgoing_.pop_front();
        busy_ = true;
        return StartWrite(&event_);
      }
      if (end_) return FinishLocked(*end_);
      if (last_) return FinishLocked(grpc::Status::OK);
      if (!initial_done_) read = busy_ = true;
    }
    if (read) ReadStore();
  }

  void TakeChangesLocked() REQUIRES(mu_) {
    auto change = subscription_->Take();
    if (!change) return;
    v1::WatchEvent event;
    for (v1::ResultRow& row : change->rows) {
      *event.add_rows() = std::move(row);
      if (event.rows_size() == kPageRows) outgoing_.push_back(std::exchange(event, {}));
    }
    if (change->job) *event.mutable_job() = *std::move(change->job);
    if (event.has_job() || event.rows_size() > 0) outgoing_.push_back(std::move(event));
    last_ = change->finished;
    if (change->closed && !last_) {
      end_ = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the coordinator stops; watch again");
    }
  }

  void FinishLocked(const grpc::Status& status) REQUIRES(mu_) {
    finished_ = true;
    Finish(status);
  }

  const Context* const context_;
  const JobId job_;
  const bool rows_;
  RowWalk walk_;
  bool job_sent_ = false;  // this and the next: query thread, one at a time
  bool finished_at_start_ = false;
  std::shared_ptr<session::ChangeFeed::Subscription> subscription_;

  Mutex mu_;
  v1::WatchEvent event_ GUARDED_BY(mu_);  // being written
  std::deque<v1::WatchEvent> outgoing_ GUARDED_BY(mu_);
  std::optional<grpc::Status> end_ GUARDED_BY(mu_);
  bool busy_ GUARDED_BY(mu_) = true;  // an event is being written or read from the store
  bool initial_done_ GUARDED_BY(mu_) = false;
  bool last_ GUARDED_BY(mu_) = false;
  bool finished_ GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::WatchEvent>* NewWatch(const Context* context,
                                                   const v1::WatchJobRequest& request) {
  auto* watch = new Watch(context, request);
  watch->Begin();
  return watch;
}

}  // namespace dynbench::control

#include "coordinator/ingest/ingest.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/time.h"
#include "common/store/wal_readers.h"
#include "coordinator/ingest/batch.h"
#include "coordinator/ingest/checkpointer.h"
#include "spdlog/spdlog.h"

namespace dynbench::ingest {
namespace {

// Where a checkpoint pays although there is work: a long log makes reading slow and restarts long.
constexpr int64_t kCheckpointBytes = 32 << 20;
// A log that a reader keeps from being copied grows by this much before the next try.
constexpr int64_t kCheckpointStepBytes = 8 << 20;
// What the writer copies itself, between two commits.
constexpr int64_t kOwnCheckpointBytes = 256 << 10;
constexpr int kPassesBeside = 4;
// Idle: not for every single change.
constexpr int64_t kIdleCheckpointBytes = 1 << 20;
constexpr auto kIdleWait = std::chrono::milliseconds(500);
// A file of the log that once grew is cut when nothing is to be done.
constexpr int64_t kTruncateBytes = 64 << 20;
// The log cannot be emptied past what a reader still sees: who that is gets named, once a minute.
constexpr int64_t kWarnBytes = 256 << 20;
constexpr int64_t kWarnEveryNs = 60 * kNsPerSecond;

}  // namespace

class Ingest::Impl {
 public:
  Impl(std::unique_ptr<store::Database> db, int64_t stop_wait_ns)
      : db_(std::move(db)),
        stop_wait_ns_(stop_wait_ns),
        checkpointer_(db_->path()),
        thread_([this] { Run(); }) {}

  ~Impl() {
    {
      MutexLock lock(mu_);
      stopping_ = true;
      stop_deadline_ = MonotonicNow() + stop_wait_ns_;
    }
    wake_.NotifyAll();
    thread_.join();
  }

  void Apply(Change change, Committed committed, bool lazy) {
    bool wakes = !lazy;
    {
      MutexLock lock(mu_);
      CHECK(!stopping_) << "Apply after the destructor began";
      if (queue_.empty()) {
        wakes = true;
        waiting_since_ = MonotonicNow();
      }
      if (!lazy) ++urgent_;
      queue_.push_back({std::move(change), std::move(committed), absl::OkStatus(), lazy});
    }
    if (wakes) wake_.NotifyOne();
  }

  Counters counters() const {
    MutexLock lock(mu_);
    return counters_;
  }

  std::thread::id thread_id() const { return thread_.get_id(); }

 private:
  void Run() {
    while (true) {
      std::vector<Pending> batch = NextBatch();
      if (batch.empty()) return;
      Commit(std::move(batch));
      TendLog();
    }
  }

  void TendLog() {
    if (db_->wal_bytes() < next_checkpoint_bytes_ || checkpointer_.busy()) return;
    const int64_t left = passes_ == 0 ? -1 : checkpointer_.left_bytes();
    if ((left < 0 || left > kOwnCheckpointBytes) && passes_ < kPassesBeside) {
      ++passes_;
      return checkpointer_.Begin();
    }
    passes_ = 0;
    Checkpoint(/*truncate=*/false);
    next_checkpoint_bytes_ = std::max(kCheckpointBytes, db_->wal_bytes() + kCheckpointStepBytes);
  }

  // Waits for changes. Empty: stopped, and nothing is left.
  std::vector<Pending> NextBatch() {
    MutexLock lock(mu_);
    while (urgent_ == 0 && !stopping_) {
      if (!queue_.empty()) {
        const int64_t left_ns = waiting_since_ + kLazyNs - MonotonicNow();
        if (left_ns <= 0) break;
        wake_.WaitFor(mu_, std::chrono::nanoseconds(left_ns));
        continue;
      }
      if (wake_.WaitFor(mu_, kIdleWait) || !queue_.empty() || stopping_) continue;
      if (db_->wal_bytes() <= kIdleCheckpointBytes) continue;
      mu_.Unlock();
      Checkpoint(/*truncate=*/store::WalBytes(db_->path()) > kTruncateBytes);
      mu_.Lock();
    }
    std::vector<Pending> batch;
    while (!queue_.empty() && batch.size() < kBatchLimit) {
      batch.push_back(std::move(queue_.front()));
      if (!batch.back().lazy) --urgent_;
      queue_.pop_front();
    }
    return batch;
  }

  void Commit(std::vector<Pending> batch) {
    const BatchOutcome outcome = RunBatch(*db_, &batch, kBatchTimeNs, [this] { return GiveUp(); });
    {
      MutexLock lock(mu_);
      for (size_t i = batch.size(); i > outcome.applied; --i) {
        if (!batch[i - 1].lazy) ++urgent_;
        queue_.push_front(std::move(batch[i - 1]));
      }
      counters_.changes += static_cast<int64_t>(outcome.applied);
      ++(outcome.commit.ok() ? counters_.batches : counters_.failed_commits);
    }
    for (size_t i = 0; i < outcome.applied; ++i) {
      if (batch[i].committed) {
        batch[i].committed(outcome.commit.ok() ? batch[i].status : outcome.commit);
      }
    }
  }

  // Asked each time that the database was busy for a whole try.
  bool GiveUp() {
    MutexLock lock(mu_);
    ++counters_.busy_waits;
    return stopping_ && MonotonicNow() > stop_deadline_;
  }

  // An error is no harm: the log stays, and the next try comes.
  void Checkpoint(bool truncate) {
    const bool done = db_->Checkpoint(truncate).ok();
    if (db_->wal_bytes() > kWarnBytes) NameReaders();
    if (!done) return;
    MutexLock lock(mu_);
    ++counters_.checkpoints;
  }

  void NameReaders() {
    const MonotonicTime now = MonotonicNow();
    if (now < next_warning_) return;
    next_warning_ = now + kWarnEveryNs;
    const std::string who = store::Describe(store::WalReaders(db_->path()));
    spdlog::warn(
        "the write-ahead log of {} has {} MiB and cannot be emptied: an old state is read by {}",
        db_->path(), db_->wal_bytes() >> 20, who.empty() ? "somebody" : who);
  }

  const std::unique_ptr<store::Database> db_;  // the writer thread's
  const int64_t stop_wait_ns_;
  MonotonicTime next_warning_;  // the writer thread's
  Checkpointer checkpointer_;
  int passes_ = 0;  // of the checkpointer, for this log; both are the writer thread's
  int64_t next_checkpoint_bytes_ = kCheckpointBytes;
  mutable Mutex mu_;
  CondVar wake_;
  std::deque<Pending> queue_ GUARDED_BY(mu_);
  size_t urgent_ GUARDED_BY(mu_) = 0;            // of the queue: those that are not lazy
  MonotonicTime waiting_since_ GUARDED_BY(mu_);  // when the queue was empty last
  bool stopping_ GUARDED_BY(mu_) = false;
  MonotonicTime stop_deadline_ GUARDED_BY(mu_);
  Counters counters_ GUARDED_BY(mu_);
  std::thread thread_;
};

Ingest::Ingest(std::unique_ptr<store::Database> db, int64_t stop_wait_ns)
    : impl_(std::make_unique<Impl>(std::move(db), stop_wait_ns)) {}
Ingest::~Ingest() = default;

void Ingest::Apply(Change change, Committed committed) {
  impl_->Apply(std::move(change), std::move(committed), /*lazy=*/false);
}

void Ingest::ApplyLazily(Change change, Committed committed) {
  impl_->Apply(std::move(change), std::move(committed), /*lazy=*/true);
}

absl::Status Ingest::ApplyAndWait(Change change) {
  CHECK(std::this_thread::get_id() != impl_->thread_id()) << "would wait for itself";
  struct Answer {
    Mutex mu;
    CondVar done;
    bool has GUARDED_BY(mu) = false;
    absl::Status status GUARDED_BY(mu);
  } answer;
  impl_->Apply(
      std::move(change),
      [&answer](const absl::Status& status) {
        MutexLock lock(answer.mu);
        answer.status = status;
        answer.has = true;
        // Under the lock: the waiter's frame, and with it `answer`, ends once it sees `has`.
        answer.done.NotifyOne();
      },
      /*lazy=*/false);
  MutexLock lock(answer.mu);
  while (!answer.has) answer.done.Wait(answer.mu);
  return answer.status;
}

Counters Ingest::counters() const { return impl_->counters(); }

}  // namespace dynbench::ingest

// Tells watchers of a job what changed. A watcher that reads slowly gets fewer, newer events: what
// waits for it is coalesced by experiment, so its memory is bounded by the size of the job, and it
// never slows the dispatcher or another watcher down. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/mutex.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::session {

struct JobChange {
  std::optional<v1::Job> job;       // when its counts changed
  std::vector<v1::ResultRow> rows;  // that started, changed phase or ended; in order of change
  bool finished = false;            // the job's last change
  bool closed = false;              // the coordinator stops; nothing follows
};

class ChangeFeed {
 public:
  class Subscription;

  // `wake` is called, on the publisher's thread and without locks, whenever there is something to
  // take and nothing was before. Unsubscribe waits for a wake that is under way.
  std::shared_ptr<Subscription> Subscribe(JobId job, bool rows, std::function<void()> wake)
      EXCLUDES(mu_);
  void Unsubscribe(const std::shared_ptr<Subscription>& subscription) EXCLUDES(mu_);

  bool HasWatchers(JobId job) const EXCLUDES(mu_);
  void PublishJob(const v1::Job& job, bool finished) EXCLUDES(mu_);
  void PublishRow(JobId job, const v1::ResultRow& row) EXCLUDES(mu_);
  // Ends every subscription, now and later.
  void Close() EXCLUDES(mu_);

 private:
  std::vector<std::shared_ptr<Subscription>> WatchersOf(JobId job) const EXCLUDES(mu_);

  mutable Mutex mu_;
  std::multimap<JobId, std::shared_ptr<Subscription>> watchers_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

class ChangeFeed::Subscription {
 public:
  Subscription(JobId job, bool rows, std::function<void()> wake);

  // Everything since the last call; nullopt when nothing changed.
  std::optional<JobChange> Take() EXCLUDES(mu_);

 private:
  friend class ChangeFeed;
  // Each adds to what is pending and wakes the watcher when nothing was.
  void AddJob(const v1::Job& job, bool finished) EXCLUDES(mu_);
  void AddRow(const v1::ResultRow& row) EXCLUDES(mu_);
  void AddClosed() EXCLUDES(mu_);

  const JobId job_;
  const bool rows_;
  Mutex wake_mu_;  // held during wake_, so that Unsubscribe can wait for it
  std::function<void()> wake_ GUARDED_BY(wake_mu_);
  Mutex mu_;
  bool pending_ GUARDED_BY(mu_) = false;
  JobChange change_ GUARDED_BY(mu_);
  std::map<int64_t, size_t> place_ GUARDED_BY(mu_);  // experiment -> index in change_.rows
};

}  // namespace dynbench::session

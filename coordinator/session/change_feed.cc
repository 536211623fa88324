#include "coordinator/session/change_feed.h"

#include <utility>

namespace dynbench::session {

ChangeFeed::Subscription::Subscription(JobId job, bool rows, std::function<void()> wake)
    : job_(job), rows_(rows), wake_(std::move(wake)) {}

std::optional<JobChange> ChangeFeed::Subscription::Take() {
  MutexLock lock(mu_);
  if (!pending_) return std::nullopt;
  pending_ = false;
  place_.clear();
  return std::exchange(change_, JobChange());
}

void ChangeFeed::Subscription::AddJob(const v1::Job& job, bool finished) {
  {
    MutexLock lock(mu_);
    change_.job = job;
    change_.finished |= finished;
    if (std::exchange(pending_, true)) return;
  }
  MutexLock lock(wake_mu_);
  if (wake_) wake_();
}

void ChangeFeed::Subscription::AddRow(const v1::ResultRow& row) {
  if (!rows_) return;
  {
    MutexLock lock(mu_);
    const auto [place, added] = place_.try_emplace(row.experiment().id(), change_.rows.size());
    if (added) {
      change_.rows.push_back(row);
    } else {
      change_.rows[place->second] = row;
    }
    if (std::exchange(pending_, true)) return;
  }
  MutexLock lock(wake_mu_);
  if (wake_) wake_();
}

void ChangeFeed::Subscription::AddClosed() {
  {
    MutexLock lock(mu_);
    change_.closed = true;
    if (std::exchange(pending_, true)) return;
  }
  MutexLock lock(wake_mu_);
  if (wake_) wake_();
}

std::shared_ptr<ChangeFeed::Subscription> ChangeFeed::Subscribe(JobId job, bool rows,
                                                                std::function<void()> wake) {
  auto subscription = std::make_shared<Subscription>(job, rows, std::move(wake));
  bool closed;
  {
    MutexLock lock(mu_);
    closed = closed_;
    if (!closed) watchers_.emplace(job, subscription);
  }
  if (closed) subscription->AddClosed();
  return subscription;
}

void ChangeFeed::Unsubscribe(const std::shared_ptr<Subscription>& subscription) {
  {
    MutexLock lock(mu_);
    for (auto [it, end] = watchers_.equal_range(subscription->job_); it != end; ++it) {
      if (it->second != subscription) continue;
      watchers_.erase(it);
      break;
    }
  }
  MutexLock lock(subscription->wake_mu_);
  subscription->wake_ = nullptr;
}

std::vector<std::shared_ptr<ChangeFeed::Subscription>> ChangeFeed::WatchersOf(JobId job) const {
  std::vector<std::shared_ptr<Subscription>> found;
  MutexLock lock(mu_);
  for (auto [it, end] = watchers_.equal_range(job); it != end; ++it) found.push_back(it->second);
  return found;
}

bool ChangeFeed::HasWatchers(JobId job) const {
  MutexLock lock(mu_);
  return watchers_.count(job) > 0;
}

void ChangeFeed::PublishJob(const v1::Job& job, bool finished) {
  for (const auto& watcher : WatchersOf(JobId(job.id()))) watcher->AddJob(job, finished);
}

void ChangeFeed::PublishRow(JobId job, const v1::ResultRow& row) {
  for (const auto& watcher : WatchersOf(job)) watcher->AddRow(row);
}

void ChangeFeed::Close() {
  std::vector<std::shared_ptr<Subscription>> all;
  {
    MutexLock lock(mu_);
    closed_ = true;
    for (const auto& [job, watcher] : watchers_) all.push_back(watcher);
  }
  for (const auto& watcher : all) watcher->AddClosed();
}

}  // namespace dynbench::session

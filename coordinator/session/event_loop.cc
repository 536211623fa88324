#include "coordinator/session/event_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace dynbench::session {

ThreadedEventLoop::~ThreadedEventLoop() { ThreadedEventLoop::Stop(); }

void ThreadedEventLoop::Start(int64_t pause_threshold_ns, Hooks hooks) {
  pause_threshold_ns_ = pause_threshold_ns;
  hooks_ = std::move(hooks);
  thread_ = std::thread([this] { Run(); });
}

void ThreadedEventLoop::Stop() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void ThreadedEventLoop::Post(std::function<void()> task) {
  MutexLock lock(mu_);
  if (stopping_) return;
  queue_.push_back(std::move(task));
  if (queue_.size() == 1) wake_.NotifyOne();
}

void ThreadedEventLoop::PostAfter(int64_t delay_ns, std::function<void()> task) {
  MutexLock lock(mu_);
  if (stopping_) return;
  timers_.emplace(MonotonicNow() + delay_ns, std::move(task));
  wake_.NotifyOne();
}

bool ThreadedEventLoop::Take(MonotonicTime deadline, Tasks* tasks) {
  MutexLock lock(mu_);
  while (queue_.empty() && !stopping_) {
    MonotonicTime until = deadline;
    if (!timers_.empty()) until = std::min(until, timers_.begin()->first);
    // Turns come often enough for a pause to be told from an idle queue.
    const int64_t wait_ns = std::min(until - MonotonicNow(), pause_threshold_ns_ / 2);
    if (wait_ns <= 0) break;
    if (!wake_.WaitFor(mu_, std::chrono::nanoseconds(wait_ns))) break;
  }
  tasks->swap(queue_);
  return !(stopping_ && tasks->empty());
}

void ThreadedEventLoop::TakeDueTimers(Tasks* tasks) {
  MutexLock lock(mu_);
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    tasks->push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
}

void ThreadedEventLoop::Run() {
  MonotonicTime deadline = MonotonicNow();
  now_ = deadline;
  Tasks tasks;
  while (Take(deadline, &tasks)) {
    const MonotonicTime before = now_;
    now_ = MonotonicNow();
    if (now_ - before > pause_threshold_ns_) hooks_.resumed(now_, now_ - before);
    for (auto& task : tasks) task();
    tasks.clear();
    TakeDueTimers(&tasks);
    for (auto& task : tasks) task();
    tasks.clear();
    deadline = hooks_.turn(now_);
  }
}

}  // namespace dynbench::session

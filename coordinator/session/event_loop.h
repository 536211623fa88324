// What the dispatcher runs on: a queue of tasks, timers and the clocks, so that the same dispatcher
// lives on a thread of its own (ThreadedEventLoop) or in simulated time (tests/simulation). A loop
// is also the one place that notices that the process itself did not run for a while (SIGSTOP, a
// starved host): then `resumed` is called before anything that was queued or due, so that nobody is
// declared dead for the time in which we were deaf.
//
// All of a turn sees one `now`, taken when the turn began: a pause in the middle of a turn is seen
// by the next turn, never by a deadline of the same one.
//
// Post, PostAfter and unix_now are thread-safe; tasks and hooks run on the loop's thread only.
#pragma once

#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/time.h"

namespace dynbench::session {

class EventLoop {
 public:
  struct Hooks {
    // After the queue was drained; answers when it wants to be called again at the latest.
    std::function<MonotonicTime(MonotonicTime now)> turn;
    // More than `pause_threshold_ns` lay between two turns.
    std::function<void(MonotonicTime now, int64_t gap_ns)> resumed;
  };

  EventLoop() = default;
  virtual ~EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Once. What was posted before runs first.
  virtual void Start(int64_t pause_threshold_ns, Hooks hooks) = 0;
  // Runs what was posted before, then ends. Later posts are dropped. Idempotent.
  virtual void Stop() = 0;

  virtual void Post(std::function<void()> task) = 0;
  virtual void PostAfter(int64_t delay_ns, std::function<void()> task) = 0;

  // The time of this turn; before the first one, that of the loop's making. On the loop's thread
  // only, or before Start.
  virtual MonotonicTime now() const = 0;
  // The calendar, for people and for the store.
  virtual UnixTimeMs unix_now() const = 0;
};

// A thread and the machine's clocks.
class ThreadedEventLoop final : public EventLoop {
 public:
  ThreadedEventLoop() : now_(MonotonicNow()) {}
  ~ThreadedEventLoop() override;  // Stop()

  void Start(int64_t pause_threshold_ns, Hooks hooks) override;
  void Stop() override EXCLUDES(mu_);
  void Post(std::function<void()> task) override EXCLUDES(mu_);
  void PostAfter(int64_t delay_ns, std::function<void()> task) override EXCLUDES(mu_);
  MonotonicTime now() const override { return now_; }
  UnixTimeMs unix_now() const override { return UnixNow(); }

 private:
  using Tasks = std::vector<std::function<void()>>;

  void Run() EXCLUDES(mu_);
  // Waits for work, a timer, `deadline` or Stop. False: stopped and nothing is left.
  bool Take(MonotonicTime deadline, Tasks* tasks) EXCLUDES(mu_);
  void TakeDueTimers(Tasks* tasks) EXCLUDES(mu_);

  int64_t pause_threshold_ns_ = 0;  // as given to Start
  Hooks hooks_;
  MonotonicTime now_;
  Mutex mu_;
  CondVar wake_;
  Tasks queue_ GUARDED_BY(mu_);
  std::multimap<MonotonicTime, std::function<void()>> timers_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace dynbench::session

// A thread with a queue of tasks and timers, and the one place that notices that the process itself
// did not run for a while (SIGSTOP, a starved host): then `resumed` is called before anything that
// was queued or due, so that nobody is declared dead for the time in which we were deaf.
//
// All of a turn sees one `now`, taken when the turn began: a pause in the middle of a turn is seen
// by the next turn, never by a deadline of the same one.
//
// Post and PostAfter are thread-safe; tasks and hooks run on the loop's thread only.
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

  EventLoop(int64_t pause_threshold_ns, Hooks hooks);
  ~EventLoop();  // Stop()
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Start();
  // Runs what was posted before, then ends the thread. Later posts are dropped.
  void Stop() EXCLUDES(mu_);

  void Post(std::function<void()> task) EXCLUDES(mu_);
  void PostAfter(int64_t delay_ns, std::function<void()> task) EXCLUDES(mu_);

  // The time of this turn. On the loop's thread only.
  MonotonicTime now() const { return now_; }

 private:
  using Tasks = std::vector<std::function<void()>>;

  void Run() EXCLUDES(mu_);
  // Waits for work, a timer, `deadline` or Stop. False: stopped and nothing is left.
  bool Take(MonotonicTime deadline, Tasks* tasks) EXCLUDES(mu_);
  void TakeDueTimers(Tasks* tasks) EXCLUDES(mu_);

  const int64_t pause_threshold_ns_;
  const Hooks hooks_;
  MonotonicTime now_;
  Mutex mu_;
  CondVar wake_;
  Tasks queue_ GUARDED_BY(mu_);
  std::multimap<MonotonicTime, std::function<void()>> timers_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace dynbench::session

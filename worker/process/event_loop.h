// One thread that waits for descriptors, timers and posted work: the frame of the engine and of the
// agent. Everything runs on the thread that called Run, one thing at a time, so that what belongs
// to a loop needs no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// Post and Stop are thread-safe; everything else belongs to the loop's thread (or to the time
// before Run).
class EventLoop {
 public:
  using Task = std::function<void()>;
  using TimerId = int64_t;

  EventLoop();

  // Until Stop. Work that was posted before Stop is still done.
  void Run();
  void Stop();
  void Post(Task task);
  // After Run has returned: lets it be called again.
  void Resume() { stop_.store(false); }

  // Calls `readable` whenever `fd` can be read or its peer is gone. The caller keeps `fd` and
  // calls Unwatch before it closes it; Unwatch may be called from within `readable`.
  void Watch(int fd, Task readable);
  void Unwatch(int fd);

  TimerId After(int64_t delay_ms, Task task);
  void Cancel(TimerId timer);

 private:
  bool RunPosted();  // false: there was nothing
  bool HasPosted();
  int RunTimers();  // returns milliseconds until the next one; -1: none

  struct Timer {
    TimerId id;
    Task task;
  };

  UniqueFd epoll_;
  UniqueFd wake_;
  std::map<int, std::shared_ptr<Task>> watched_;
  std::multimap<int64_t, Timer> timers_;  // by due time, monotonic ns
  TimerId last_timer_ = 0;
  Mutex mu_;
  std::vector<Task> posted_ GUARDED_BY(mu_);
  std::atomic<bool> stop_{false};
  std::atomic<std::thread::id> thread_{};  // that runs it
};

}  // namespace dynbench::worker

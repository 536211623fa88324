#include "worker/process/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/time.h"

namespace dynbench::worker {

EventLoop::EventLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(epoll_ && wake_) << "no descriptors left for an event loop";
  Watch(wake_.get(), [this] {
    uint64_t count;
    [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof count);
  });
}

void EventLoop::Run() {
  while (true) {
    RunPosted();
    if (stop_.load()) break;
    const int wait_ms = RunTimers();
    epoll_event events[64];
    const int n = epoll_wait(epoll_.get(), events, 64, wait_ms);
    for (int i = 0; i < n; ++i) {
      // Looked up each time: an earlier callback of this round may have unwatched it.
      const auto it = watched_.find(events[i].data.fd);
      if (it == watched_.end()) continue;
      const std::shared_ptr<Task> task = it->second;
      (*task)();
    }
  }
  RunPosted();
}

void EventLoop::Stop() {
  stop_.store(true);
  Post([] {});
}

void EventLoop::Post(Task task) {
  {
    MutexLock lock(mu_);
    posted_.push_back(std::move(task));
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof one);
}

void EventLoop::Watch(int fd, Task readable) {
  watched_[fd] = std::make_shared<Task>(std::move(readable));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) << "fd " << fd;
}

void EventLoop::Unwatch(int fd) {
  if (watched_.erase(fd) > 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::After(int64_t delay_ms, Task task) {
  const TimerId id = ++last_timer_;
  timers_.emplace(MonotonicNow().ns + delay_ms * kNsPerMs, Timer{id, std::move(task)});
  return id;
}

void EventLoop::Cancel(TimerId timer) {
  std::erase_if(timers_, [&](const auto& entry) { return entry.second.id == timer; });
}

void EventLoop::RunPosted() {
  std::vector<Task> tasks;
  {
    MutexLock lock(mu_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
}

int EventLoop::RunTimers() {
  while (!timers_.empty()) {
    const int64_t left_ns = timers_.begin()->first - MonotonicNow().ns;
    if (left_ns > 0) return static_cast<int>(std::min<int64_t>(left_ns / kNsPerMs + 1, 60'000));
    Task task = std::move(timers_.begin()->second.task);
    timers_.erase(timers_.begin());
    task();
  }
  return -1;
}

}  // namespace dynbench::worker

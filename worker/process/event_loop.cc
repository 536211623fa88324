#include "worker/process/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/base/time.h"

namespace dynbench::worker {
namespace {

// Work that posts work: a few steps of it without asking for descriptors in between.
constexpr int kRoundsPerTurn = 4;

}  // namespace

EventLoop::EventLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(epoll_ && wake_) << "no descriptors left for an event loop";
  Watch(wake_.get(), [this] {
    uint64_t count;
    [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof count);
  });
}

void EventLoop::Run() {
  thread_.store(std::this_thread::get_id());
  while (true) {
    for (int i = 0; i < kRoundsPerTurn && RunPosted(); ++i) {
    }
    if (stop_.load()) break;
    int wait_ms = RunTimers();
    if (HasPosted()) wait_ms = 0;
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
  for (int i = 0; i < kRoundsPerTurn && RunPosted(); ++i) {
  }
}

void EventLoop::Stop() {
  stop_.store(true);
  Post([] {});
}

void EventLoop::Post(Task task) {
  bool first = false;
  {
    MutexLock lock(mu_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  // It is awake already: by the first one's doing, or because it is the one who posts.
  if (!first || thread_.load() == std::this_thread::get_id()) return;
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

bool EventLoop::HasPosted() {
  MutexLock lock(mu_);
  return !posted_.empty();
}

bool EventLoop::RunPosted() {
  std::vector<Task> tasks;
  {
    MutexLock lock(mu_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
  return !tasks.empty();
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

// std::mutex with Clang's thread-safety annotations. Own code since Debian's Abseil is not
// instrumented for the thread sanitizer, so absl::Mutex would give false reports there.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define DYNBENCH_ANNOTATE(x) __attribute__((x))
#else
#define DYNBENCH_ANNOTATE(x)
#endif
// Older Abseil defines two of these names too, with the same meaning.
#undef GUARDED_BY
#undef NO_THREAD_SAFETY_ANALYSIS
#define CAPABILITY(name) DYNBENCH_ANNOTATE(capability(name))
#define SCOPED_CAPABILITY DYNBENCH_ANNOTATE(scoped_lockable)
#define GUARDED_BY(mu) DYNBENCH_ANNOTATE(guarded_by(mu))
#define REQUIRES(mu) DYNBENCH_ANNOTATE(requires_capability(mu))
#define EXCLUDES(mu) DYNBENCH_ANNOTATE(locks_excluded(mu))
#define ACQUIRE(...) DYNBENCH_ANNOTATE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) DYNBENCH_ANNOTATE(release_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS DYNBENCH_ANNOTATE(no_thread_safety_analysis)

namespace dynbench {

class CAPABILITY("mutex") Mutex {
 public:
  void Lock() ACQUIRE() { mu_.lock(); }
  void Unlock() RELEASE() { mu_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

// Holds `mu` for its own lifetime.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() RELEASE() { mu_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// A condition variable for Mutex. Callers loop on their condition, as always.
class CondVar {
 public:
  void Wait(Mutex& mu) REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False when `duration` passed without a notification.
  template <typename Duration>
  bool WaitFor(Mutex& mu, Duration duration) REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    const bool notified = condition_.wait_for(lock, duration) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace dynbench

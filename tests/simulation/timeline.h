// Simulated time: a queue of events in the order of their moments. Nothing here reads a clock.
// Thread-compatible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace dynbench::simulation {

class Timeline {
 public:
  MonotonicTime now() const { return now_; }

  // Events of one moment run in the order of these calls; a moment that is past means now.
  void At(MonotonicTime when, std::function<void()> task) {
    heap_.push_back({std::max(when, now_), next_order_++, std::move(task)});
    std::push_heap(heap_.begin(), heap_.end());
  }
  void After(int64_t delay_ns, std::function<void()> task) { At(now_ + delay_ns, std::move(task)); }

  // False: nothing is left.
  bool RunNext() {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end());
    Event event = std::move(heap_.back());
    heap_.pop_back();
    now_ = event.when;
    event.task();
    return true;
  }

 private:
  struct Event {
    MonotonicTime when;
    uint64_t order = 0;
    std::function<void()> task;

    // The greatest comes first out of a heap.
    bool operator<(const Event& other) const {
      return when != other.when ? other.when < when : other.order < order;
    }
  };

  // Not 0, which some code takes for "never".
  MonotonicTime now_{1'000 * kNsPerSecond};
  uint64_t next_order_ = 0;
  std::vector<Event> heap_;
};

}  // namespace dynbench::simulation

#include "tests/simulation/event_loop.h"

#include <algorithm>
#include <utility>

namespace dynbench::simulation {

void SimulatedEventLoop::Start(int64_t pause_threshold_ns, Hooks hooks) {
  pause_threshold_ns_ = pause_threshold_ns;
  hooks_ = std::move(hooks);
  started_ = true;
  WakeAt(world_->now());
}

void SimulatedEventLoop::Stop() {
  started_ = false;
  alive_ = std::make_shared<bool>(true);  // wakes that are under way find nobody
}

void SimulatedEventLoop::Post(std::function<void()> task) {
  if (process_->dead) return;
  queue_.push_back(std::move(task));
  if (started_) WakeAt(world_->now());
}

void SimulatedEventLoop::PostAfter(int64_t delay_ns, std::function<void()> task) {
  if (process_->dead) return;
  const MonotonicTime due = world_->now() + delay_ns;
  timers_.emplace(due, std::move(task));
  if (started_) WakeAt(due);
}

void SimulatedEventLoop::WakeAt(MonotonicTime when) {
  when = std::max(when, process_->stopped_until);
  if (armed_ && wake_at_ <= when) return;
  armed_ = true;
  wake_at_ = when;
  world_->timeline.At(when,
                      [this, generation = ++generation_, alive = std::weak_ptr<bool>(alive_)] {
                        if (!alive.expired() && generation == generation_) Turn();
                      });
}

void SimulatedEventLoop::Turn() {
  armed_ = false;
  if (process_->dead) return;
  if (world_->now() < process_->stopped_until) return WakeAt(process_->stopped_until);
  const MonotonicTime before = now_;
  now_ = world_->now();
  // The real loop turns at least every half threshold, so only a stop makes a gap.
  if (process_->stopped_until > stopped_before_) {
    const int64_t gap_ns = now_ - std::max(before, process_->stopped_from);
    stopped_before_ = process_->stopped_until;
    if (gap_ns > pause_threshold_ns_) hooks_.resumed(now_, gap_ns);
  }
  std::vector<std::function<void()>> tasks;
  tasks.swap(queue_);
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    tasks.push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
  for (auto& task : tasks) {
    if (!process_->dead) task();
  }
  if (process_->dead) return;
  MonotonicTime next = hooks_.turn(now_);
  if (after_turn_) after_turn_();
  if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
  if (!queue_.empty()) next = now_;
  WakeAt(std::max(next, now_ + 1'000));
}

}  // namespace dynbench::simulation

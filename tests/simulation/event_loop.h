// The dispatcher's loop in simulated time: a turn whenever something was posted or is due, later
// while its process is stopped, never again once it is dead. Thread-compatible.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coordinator/session/event_loop.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

// A process that can be stopped (SIGSTOP) and killed.
struct Process {
  bool dead = false;
  MonotonicTime stopped_from, stopped_until;  // the last stop
};

class SimulatedEventLoop final : public session::EventLoop {
 public:
  SimulatedEventLoop(World* world, std::shared_ptr<Process> process)
      : world_(world), process_(std::move(process)), now_(world->now()) {}

  // Called after each turn.
  void SetAfterTurn(std::function<void()> after_turn) { after_turn_ = std::move(after_turn); }

  void Start(int64_t pause_threshold_ns, Hooks hooks) override;
  void Stop() override;
  void Post(std::function<void()> task) override;
  void PostAfter(int64_t delay_ns, std::function<void()> task) override;
  MonotonicTime now() const override { return now_; }
  UnixTimeMs unix_now() const override { return world_->unix_now(); }

 private:
  void WakeAt(MonotonicTime when);
  void Turn();

  World* const world_;
  const std::shared_ptr<Process> process_;
  int64_t pause_threshold_ns_ = 0;
  Hooks hooks_;
  std::function<void()> after_turn_;
  MonotonicTime now_;
  std::vector<std::function<void()>> queue_;
  std::multimap<MonotonicTime, std::function<void()>> timers_;
  bool armed_ = false;
  MonotonicTime wake_at_;
  int64_t generation_ = 0;  // of the wake that counts
  MonotonicTime stopped_before_;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dynbench::simulation

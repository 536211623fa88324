// A scheduler with a clock of its own and short ways to say what happens and to ask what it did.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/scheduler/scheduler.h"
#include "gtest/gtest.h"

namespace dynbench::scheduler {

// Of a test that shows how costs grow: a tenth under a sanitizer, where everything is slow.
constexpr int64_t Scaled(int64_t count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return count / 10;
#else
  return count;
#endif
}

inline Task MakeTask(int64_t id, const std::string& model, double expected_s = 10) {
  Task task;
  task.id = ExperimentId(id);
  task.device = "cpu";
  task.environment = "default";
  task.profile = "default";
  task.model = model;
  task.expected_s = expected_s;
  task.queue_order = id;
  return task;
}

inline SlotOffer MakeSlot(int index, const std::set<std::string>& environments = {"default"}) {
  SlotOffer slot;
  slot.index = index;
  slot.device = "cpu";
  slot.environments = environments;
  return slot;
}

class Rig {
 public:
  explicit Rig(Options options = Options()) : scheduler(options) {}

  // Feeds the event and checks the invariants; keeps the actions.
  const std::vector<Action>& Do(const Event& event) {
    actions = scheduler.Step(now, event);
    scheduler.CheckInvariants();
    for (const Action& action : actions) {
      if (const auto* grant = std::get_if<Grant>(&action)) last_grant = *grant;
    }
    return actions;
  }
  const std::vector<Action>& Join(const std::string& worker, int slots = 1,
                                  const std::vector<HeldLease>& held = {}) {
    WorkerJoined event{WorkerId(worker), {}, held};
    for (int i = 0; i < slots; ++i) event.slots.push_back(MakeSlot(i));
    return Do(event);
  }
  const std::vector<Action>& Submit(int64_t job, const std::vector<Task>& tasks,
                                    plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic,
                                    int priority = 0) {
    return Do(JobAdded{JobId(job), policy, priority, tasks});
  }
  const std::vector<Action>& Finish(int64_t experiment, LeaseEpoch lease) {
    return Do(Finished{{ExperimentId(experiment), lease}});
  }
  void Advance(double seconds) { now = now + static_cast<int64_t>(seconds * kNsPerSecond); }

  // To the next moment at which time alone changes something.
  const std::vector<Action>& PassTime() {
    now = scheduler.NextDeadline(now);
    return Do(Tick{});
  }

  template <typename A>
  std::vector<A> All() const {
    std::vector<A> found;
    for (const Action& action : actions) {
      if (const auto* a = std::get_if<A>(&action)) found.push_back(*a);
    }
    return found;
  }
  // Experiments that the last event granted to `worker`, in order.
  std::vector<int64_t> Granted(const std::string& worker) const {
    std::vector<int64_t> ids;
    for (const Grant& grant : All<Grant>()) {
      if (grant.slot.worker.value != worker) continue;
      for (const ExperimentId id : grant.experiments) ids.push_back(id.value);
    }
    return ids;
  }
  std::string Explain(int64_t experiment) const {
    std::string text;
    for (const std::string& line : scheduler.ExplainWaiting(ExperimentId(experiment))) {
      text += line + "\n";
    }
    return text;
  }

  MonotonicTime now{kNsPerSecond};
  Scheduler scheduler;
  std::vector<Action> actions;
  Grant last_grant;
};

}  // namespace dynbench::scheduler

#include "coordinator/scheduler/scheduler.h"

#include <utility>

#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

class Scheduler::Impl {
 public:
  explicit Impl(Options options) : core(options) {}
  Core core;
};

namespace {

#ifndef NDEBUG
// The check reads every task, and every slot with every class of work, so that of more than these a
// debug build leaves it to the tests: of a simulated fleet it was nine tenths.
constexpr size_t kCheckedTasks = 2'000, kCheckedWorkers = 10;
#endif

}  // namespace

const plan::EnvironmentOffer& SlotOffer::FactsOf(const std::string& environment) const {
  static const auto* const nothing = new plan::EnvironmentOffer();
  const auto found = facts.find(environment);
  return found == facts.end() ? *nothing : found->second;
}

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(options)) {}
Scheduler::~Scheduler() = default;

std::vector<Action> Scheduler::Step(MonotonicTime now, const Event& event) {
  std::vector<Action> actions = impl_->core.Step(now, event);
#ifndef NDEBUG
  if (impl_->core.open_tasks() <= kCheckedTasks && impl_->core.known_workers() <= kCheckedWorkers) {
    CheckInvariants();
  }
#endif
  return actions;
}

MonotonicTime Scheduler::NextDeadline(MonotonicTime now) const {
  return impl_->core.NextDeadline(now);
}
std::vector<std::string> Scheduler::ExplainWaiting(ExperimentId experiment,
                                                   std::optional<MonotonicTime> now) const {
  return impl_->core.ExplainWaiting(experiment, now.value_or(impl_->core.now()));
}
std::vector<std::string> Scheduler::Unplaceable(const std::vector<Task>& tasks) const {
  return impl_->core.Unplaceable(tasks);
}
Eta Scheduler::EtaOf(JobId job, MonotonicTime now) const { return impl_->core.EtaOf(job, now); }
void Scheduler::CheckInvariants() const { impl_->core.CheckInvariants(); }

}  // namespace dynbench::scheduler

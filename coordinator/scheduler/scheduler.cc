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
// The check reads everything, so a debug build of a big fleet leaves it to the tests.
constexpr size_t kCheckedTasks = 2'000;
#endif

}  // namespace

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(options)) {}
Scheduler::~Scheduler() = default;

std::vector<Action> Scheduler::Step(MonotonicTime now, const Event& event) {
  std::vector<Action> actions = impl_->core.Step(now, event);
#ifndef NDEBUG
  if (impl_->core.open_tasks() <= kCheckedTasks) CheckInvariants();
#endif
  return actions;
}

MonotonicTime Scheduler::NextDeadline(MonotonicTime now) const {
  return impl_->core.NextDeadline(now);
}
std::vector<std::string> Scheduler::ExplainWaiting(ExperimentId experiment) const {
  return impl_->core.ExplainWaiting(experiment);
}
double Scheduler::EtaSeconds(JobId job, MonotonicTime now) const {
  return impl_->core.EtaSeconds(job, now);
}
void Scheduler::CheckInvariants() const { impl_->core.CheckInvariants(); }

}  // namespace dynbench::scheduler

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

std::vector<Action> Core::Step(MonotonicTime now, const Event& event) {
  now_ = now;
  actions_.clear();
  std::visit([this](const auto& e) { Handle(e); }, event);
  ReleaseHeld();
  ReviewUnplaceable();
  ExpireUnplaceable();
  Dispatch();
  return std::move(actions_);
}

TaskRecord* Core::Find(ExperimentId experiment) {
  const auto it = tasks_.find(experiment);
  return it == tasks_.end() ? nullptr : &it->second;
}

void Core::AddWaiting(const TaskRecord& record) {
  Job& job = jobs_.at(record.task.job);
  const auto it = job.waiting.try_emplace(record.work_class, job.policy).first;
  it->second.Add(GroupOf(record), record.task.partition, WaitingOf(record));
  WorkClass& work_class = matcher_.at(record.work_class);
  work_class.jobs.Insert(job);
  dirty_classes_.insert(record.work_class);
  if (work_class.known == 0) ArmUnplaceable(record.work_class, job);
}

void Core::RemoveWaiting(const TaskRecord& record, const WorkerId& taken_by) {
  Job& job = jobs_.at(record.task.job);
  WaitingSet& waiting = job.waiting.at(record.work_class);
  waiting.Remove(GroupOf(record), record.task.partition, WaitingOf(record), taken_by);
  if (waiting.size() == 0) matcher_.at(record.work_class).jobs.Erase(job);
}

void Core::Lend(TaskRecord* record, Lease* lease) {
  Job& job = jobs_.at(record->task.job);
  record->state = TaskState::kLeased;
  record->lease = lease->epoch;
  record->last_worker = lease->slot->worker->id;
  lease->outstanding.insert(record->task.id);
  job.leased.insert(record->task.id);
  share_.Promise(job.user, record->task.expected_s);
}

void Core::Unlend(TaskRecord* record) {
  Job& job = jobs_.at(record->task.job);
  job.leased.erase(record->task.id);
  record->lease = LeaseEpoch();
  const double used_s =
      record->started ? static_cast<double>(now_ - record->started_at) / kNsPerSecond : 0;
  share_.Settle(job.user, record->task.expected_s, used_s, now_);
  record->started = false;
}

void Core::Detach(TaskRecord* record) {
  if (record->held) {
    held_.erase({record->held_until, record->task.id});
    record->held = false;
  } else if (record->state == TaskState::kWaiting) {
    RemoveWaiting(*record, WorkerId());
  }
  if (record->lease) {
    Lease* lease = leases_.Find(record->lease);
    CHECK(lease != nullptr);
    Unlend(record);
    Release(lease, record->task.id);
  }
}

void Core::Forget(TaskRecord* record) {
  Detach(record);
  const auto job = jobs_.find(record->task.job);
  job->second.tasks.erase(record->task.id);
  if (job->second.tasks.empty()) jobs_.erase(job);
  tasks_.erase(record->task.id);
}

std::vector<ExperimentId> Core::PartnersOf(const TaskRecord& record) const {
  std::vector<ExperimentId> partners;
  if (record.task.unit.empty()) return partners;
  for (const ExperimentId other : jobs_.at(record.task.job).tasks) {
    if (other != record.task.id && tasks_.at(other).task.unit == record.task.unit) {
      partners.push_back(other);
    }
  }
  return partners;
}

void Core::SkipPartners(const TaskRecord& record, const std::string& why) {
  for (const ExperimentId id : PartnersOf(record)) {
    TaskRecord* partner = Find(id);
    if (partner->lease) RevokeFrom(*leases_.Find(partner->lease), {id}, why);
    ConcludeTask(partner, plan::Outcome::kSkipped, "skipped", plan::Blame::kNone, why);
  }
}

void Core::RequeueTask(TaskRecord* record, const std::string& reason, int64_t hold_ns,
                       const std::string& cause) {
  if (record->task.unit.empty()) return RequeueOne(record, reason, hold_ns, cause);
  if (!record->lease) return;  // it went with its partner
  const std::vector<ExperimentId> partners = PartnersOf(*record);
  if (partners.empty()) {
    return ConcludeTask(record, plan::Outcome::kSkipped, "skipped", plan::Blame::kNone,
                        absl::StrCat("its round was disturbed and counts for nothing: ", reason));
  }
  for (const ExperimentId id : partners) {
    TaskRecord* partner = Find(id);
    if (!partner->lease) continue;
    RevokeFrom(*leases_.Find(partner->lease), {id}, reason);
    RequeueOne(partner, reason, hold_ns, /*cause=*/{});
  }
  RequeueOne(record, reason, hold_ns, cause);
}

void Core::RequeueOne(TaskRecord* record, const std::string& reason, int64_t hold_ns,
                      const std::string& cause) {
  actions_.push_back(Requeue{record->task.id, record->lease, reason, cause});
  Detach(record);
  record->state = TaskState::kWaiting;
  record->waiting_since = now_;
#ifdef DYNBENCH_PLANT_LOST_REQUEUE  // a planted bug: docs/reliability.md, "Simulation"
  return;
#endif
  if (hold_ns <= 0) return AddWaiting(*record);
  Hold(record, hold_ns);
}

void Core::Hold(TaskRecord* record, int64_t hold_ns) {
  record->held = true;
  record->held_until = now_ + hold_ns;
  held_.insert({record->held_until, record->task.id});
}

void Core::HoldFailed() {
  for (const auto& [id, job] : jobs_) {
    for (const ExperimentId experiment : job.tasks) {
      TaskRecord* record = Find(experiment);
      if (record->infrastructure_failures == 0 || record->lease || record->held) continue;
      const int64_t hold_ns =
          BackoffNs(options_.backoff, experiment, record->infrastructure_failures);
      std::vector<ExperimentId> unit = PartnersOf(*record);
      unit.push_back(experiment);
      for (const ExperimentId side : unit) {
        TaskRecord* held = Find(side);
        if (held->lease || held->held) continue;
        RemoveWaiting(*held, WorkerId());
        held->last_failure = "before the coordinator was restarted";
        Hold(held, hold_ns);
      }
    }
  }
}

void Core::ReleaseHeld() {
  while (!held_.empty() && held_.begin()->first <= now_) {
    TaskRecord* record = Find(held_.begin()->second);
    held_.erase(held_.begin());
    record->held = false;
    AddWaiting(*record);
  }
}

void Core::ConcludeTask(TaskRecord* record, plan::Outcome outcome, const std::string& status,
                        plan::Blame blame, const std::string& reason) {
  actions_.push_back(Conclude{record->task.id, outcome, status, blame, reason});
  Forget(record);
}

void Core::Handle(const JobAdded& event) {
  if (event.tasks.empty() || jobs_.count(event.job) > 0) return;
  Job& job = jobs_[event.job];
  job.policy = event.policy;
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const Task& task : event.tasks) first = std::min(first, task.queue_order);
  if (event.place > 0) first = event.place;
  job.order = {-event.priority, first, event.job};
  job.user = event.user;
  job.deadline = event.deadline;
  job.unplaceable_grace_ns = event.unplaceable_grace_ns.value_or(options_.unplaceable_grace_ns);
  AddTasks(event);
}

void Core::Handle(const TasksAdded& event) {
  if (jobs_.count(event.job.job) == 0) return Handle(event.job);
  AddTasks(event.job);
}

void Core::AddTasks(const JobAdded& event) {
  Job& job = jobs_.at(event.job);
  // Sides that shunned different places would wait for each other's.
  std::map<std::string, Task> shunned;
  for (const Task& task : event.tasks) {
    if (task.unit.empty()) continue;
    Task& unit = shunned[task.unit];
    unit.failed_on.insert(unit.failed_on.end(), task.failed_on.begin(), task.failed_on.end());
    if (task.avoid) unit.avoid = task.avoid;
  }
  for (const Task& task : event.tasks) {
    TaskRecord record;
    record.task = task;
    record.task.job = event.job;
    record.work_class = matcher_.ClassOf(task);
    record.waiting_since = now_;
    record.crashes = task.crashes;
    record.infrastructure_failures = task.infrastructure_failures;
    const Task& shunning = task.unit.empty() ? task : shunned.at(task.unit);
    record.failed_on.insert(shunning.failed_on.begin(), shunning.failed_on.end());
    record.avoid = shunning.avoid;
    const auto [it, added] = tasks_.try_emplace(task.id, std::move(record));
    CHECK(added) << "experiment " << task.id << " was added twice";
    job.tasks.insert(task.id);
    AddWaiting(it->second);
  }
}

void Core::Handle(const JobCancelled& event) {
  const auto job = jobs_.find(event.job);
  if (job == jobs_.end()) return;
  const std::vector<ExperimentId> tasks(job->second.tasks.begin(), job->second.tasks.end());
  std::map<LeaseEpoch, std::vector<ExperimentId>> revoked;
  for (const ExperimentId experiment : tasks) {
    const TaskRecord& record = tasks_.at(experiment);
    if (record.lease) revoked[record.lease].push_back(experiment);
  }
  // Revoke first: the slot may be given away as soon as its lease is closed.
  for (auto& [epoch, experiments] : revoked) {
    RevokeFrom(*leases_.Find(epoch), std::move(experiments), event.reason);
  }
  for (const ExperimentId experiment : tasks) {
    ConcludeTask(Find(experiment), plan::Outcome::kCancelled, "cancelled", plan::Blame::kNone,
                 event.reason);
  }
}

}  // namespace dynbench::scheduler

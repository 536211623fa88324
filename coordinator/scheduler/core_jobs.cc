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
  it->second.Add(record.task.model, record.task.partition, WaitingOf(record));
  matcher_.at(record.work_class).jobs.insert(job.order);
  dirty_classes_.insert(record.work_class);
}

void Core::RemoveWaiting(const TaskRecord& record, const WorkerId& taken_by) {
  Job& job = jobs_.at(record.task.job);
  WaitingSet& waiting = job.waiting.at(record.work_class);
  waiting.Remove(record.task.model, record.task.partition, WaitingOf(record), taken_by);
  if (waiting.size() == 0) matcher_.at(record.work_class).jobs.erase(job.order);
}

void Core::Detach(TaskRecord* record) {
  if (record->state == TaskState::kWaiting) RemoveWaiting(*record, WorkerId());
  if (record->lease) {
    Lease* lease = leases_.Find(record->lease);
    CHECK(lease != nullptr);
    jobs_.at(record->task.job).leased.erase(record->task.id);
    record->lease = LeaseEpoch();
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

void Core::RequeueTask(TaskRecord* record, const std::string& reason) {
  actions_.push_back(Requeue{record->task.id, record->lease, reason});
  Detach(record);
  record->state = TaskState::kWaiting;
  record->started = false;
  AddWaiting(*record);
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
  job.order = {-event.priority, first, event.job};
  for (const Task& task : event.tasks) {
    TaskRecord record;
    record.task = task;
    record.task.job = event.job;
    record.work_class = matcher_.ClassOf(task);
    const auto [it, added] = tasks_.try_emplace(task.id, std::move(record));
    CHECK(added) << "experiment " << task.id << " was added twice";
    job.tasks.insert(task.id);
    AddWaiting(it->second);
  }
}

void Core::Handle(const Started& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr || record->lease != event.attempt.lease || record->started) return;
  record->started = true;
  record->started_at = now_;
}

void Core::Handle(const Finished& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr) return;
  // The result of an older lease was committed before that lease was fenced: it counts, and the
  // newer lease has nothing to do.
  if (record->state == TaskState::kLeased && record->lease != event.attempt.lease) {
    RevokeFrom(*leases_.Find(record->lease), {record->task.id},
               absl::StrCat("the result of lease ", event.attempt.lease.value, " counts"));
  }
  Forget(record);
}

void Core::Handle(const Returned& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr || !record->lease || record->lease != event.attempt.lease) return;
  const WorkerId worker = leases_.Find(record->lease)->slot->worker->id;
  if (!event.infrastructure_failure) {
    RequeueTask(record, absl::StrCat("worker ", worker.value, " gave it back: ", event.reason));
    return;
  }
  if (++record->infrastructure_failures > options_.infrastructure_retries) {
    ConcludeTask(record, plan::Outcome::kLost, "lost", plan::Blame::kInfrastructure,
                 absl::StrCat("infrastructure failed ", record->infrastructure_failures,
                              " times, last on worker ", worker.value, ": ", event.reason));
    return;
  }
  record->avoid = worker;
  RequeueTask(record, absl::StrCat("infrastructure failure ", record->infrastructure_failures,
                                   " on worker ", worker.value, ": ", event.reason));
}

void Core::CountCrash(TaskRecord* record, const WorkerId& worker) {
  record->last_worker = WorkerId();
  if (++record->crashes >= options_.crash_budget) {
    ConcludeTask(
        record, plan::Outcome::kFailed, "crash", plan::Blame::kModel,
        absl::StrCat("its worker died ", record->crashes, " times while it ran, last worker ",
                     worker.value, "; the crash budget is ", options_.crash_budget));
    return;
  }
  if (!record->lease) return;  // it waits already
  RequeueTask(record,
              absl::StrCat("worker ", worker.value, " died while it ran (", record->crashes, " of ",
                           options_.crash_budget, " deaths that are forgiven at most)"));
}

void Core::Handle(const WorkerDied& event) {
  for (const ExperimentId experiment : event.running) {
    TaskRecord* record = Find(experiment);
    if (record != nullptr && record->last_worker == event.worker) CountCrash(record, event.worker);
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

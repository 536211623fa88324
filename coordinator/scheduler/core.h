// The scheduler's state and its transitions. Private to the scheduler: scheduler.h is the door.
// core_jobs.cc: jobs and results · core_workers.cc: workers and leases · core_dispatch.cc: who gets
// what · core_explain.cc: answers · core_invariants.cc.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/scheduler/fleet.h"
#include "coordinator/scheduler/leases.h"
#include "coordinator/scheduler/matching.h"
#include "coordinator/scheduler/scheduler.h"
#include "coordinator/scheduler/tasks.h"

namespace dynbench::scheduler {

class Core {
 public:
  explicit Core(Options options) : options_(options), leases_(options.first_epoch) {}

  std::vector<Action> Step(MonotonicTime now, const Event& event);
  MonotonicTime NextDeadline(MonotonicTime now) const;
  std::vector<std::string> ExplainWaiting(ExperimentId experiment) const;
  double EtaSeconds(JobId job, MonotonicTime now) const;
  void CheckInvariants() const;
  size_t open_tasks() const { return tasks_.size(); }

 private:
  // Events.
  void Handle(const JobAdded& event);
  void Handle(const Recovered& event);
  void Handle(const WorkerJoined& event);
  void Handle(const WorkerLeft& event);
  void Handle(const WorkerDied& event);
  void Handle(const Beat& event);
  void Handle(const SlotsChanged& event);
  void Handle(const Started& event);
  void Handle(const Finished& event);
  void Handle(const Returned& event);
  void Handle(const JobCancelled& event);
  void Handle(const Resumed& event);
  void Handle(const Tick& event);

  // Tasks. `record` is erased by Forget.
  TaskRecord* Find(ExperimentId experiment);
  void AddWaiting(const TaskRecord& record);
  void RemoveWaiting(const TaskRecord& record, const WorkerId& taken_by);
  // Out of the queue or its lease, whichever it is in; an emptied lease is closed.
  void Detach(TaskRecord* record);
  void Forget(TaskRecord* record);
  // Ends the claim of its live or lapsed lease and lets it wait.
  void RequeueTask(TaskRecord* record, const std::string& reason);
  void ConcludeTask(TaskRecord* record, plan::Outcome outcome, const std::string& status,
                    plan::Blame blame, const std::string& reason);
  void CountCrash(TaskRecord* record, const WorkerId& worker);

  // Leases.
  void Release(Lease* lease, ExperimentId experiment);
  void Lapse(Worker* worker);
  void Restore(Lease* lease);
  void RestoreAll(Worker* worker);
  void RevokeFrom(const Lease& lease, std::vector<ExperimentId> experiments,
                  const std::string& reason);
  // What of `lease` a worker that just joined still holds.
  void Adopt(Lease* lease, const HeldLease* held);

  // Workers.
  void Heard(Worker* worker);
  void ArmIfNeeded(Worker* worker);
  void Offer(Worker* worker, const std::vector<SlotOffer>& offers);
  void UpdateSlot(Slot* slot);
  void UpdateSlots(Worker* worker);

  // Dispatch.
  void Dispatch();
  void DispatchClass(WorkClass* work_class);
  bool TryGrant(Slot* slot);
  std::vector<ExperimentId> ChooseFor(const Slot& slot) const;
  std::vector<ExperimentId> ChooseFrom(const Slot& slot, const JobOrder& job, int index) const;
  void GrantTo(Slot* slot, const std::vector<ExperimentId>& experiments);
  void TakeOver(TaskRecord* record, std::map<LeaseEpoch, std::vector<ExperimentId>>* revoked);

  // Answers.
  std::string ExplainWorker(const Worker& worker, const TaskRecord& record) const;
  std::string ExplainSlots(const Worker& worker, const TaskRecord& record) const;
  double LeasedSeconds(const Job& job, MonotonicTime now, double* longest) const;

  // Invariants.
  void CheckTasks() const;
  void CheckLeases() const;
  void CheckSlots() const;

  const Options options_;
  MonotonicTime now_;
  std::unordered_map<ExperimentId, TaskRecord> tasks_;
  std::map<JobId, Job> jobs_;
  Fleet fleet_;
  Leases leases_;
  Matcher matcher_;
  std::vector<Action> actions_;
  // Where something may be granted that could not before this event.
  std::set<int> dirty_classes_;
  std::set<std::pair<int64_t, Slot*>> dirty_slots_;
};

inline WaitingTask WaitingOf(const TaskRecord& record) {
  return {record.task.queue_order, record.task.id, record.task.expected_s, record.avoid};
}

}  // namespace dynbench::scheduler

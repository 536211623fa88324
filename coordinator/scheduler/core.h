// The scheduler's state and its transitions. Private to the scheduler: scheduler.h is the door.
// core_jobs.cc: jobs · core_results.cc: what becomes of attempts · core_workers.cc: workers and
// leases · core_dispatch.cc: who gets what · core_unplaceable.cc: what nobody can run ·
// core_explain.cc: answers · core_invariants.cc.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "coordinator/scheduler/failure_clusters.h"
#include "coordinator/scheduler/fair_share.h"
#include "coordinator/scheduler/fleet.h"
#include "coordinator/scheduler/leases.h"
#include "coordinator/scheduler/matching.h"
#include "coordinator/scheduler/scheduler.h"
#include "coordinator/scheduler/tasks.h"

namespace dynbench::scheduler {

class Core {
 public:
  explicit Core(Options options)
      : options_(options),
        leases_(options.first_epoch),
        share_(options.fair_share_half_life_ns),
        clusters_(options.cluster_limit, options.cluster_window_ns) {}

  std::vector<Action> Step(MonotonicTime now, const Event& event);
  MonotonicTime NextDeadline(MonotonicTime now) const;
  std::vector<std::string> ExplainWaiting(ExperimentId experiment, MonotonicTime now) const;
  std::vector<std::string> Unplaceable(const std::vector<Task>& tasks) const;
  Eta EtaOf(JobId job, MonotonicTime now) const;
  void CheckInvariants() const;
  size_t open_tasks() const { return tasks_.size(); }
  size_t known_workers() const { return fleet_.workers().size(); }
  MonotonicTime now() const { return now_; }  // of the last step

 private:
  // Events.
  void Handle(const JobAdded& event);
  void Handle(const TasksAdded& event);
  void Handle(const Recovered& event);
  void Handle(const WorkerKnown& event);
  void Handle(const WorkerJoined& event);
  void Handle(const WorkerLeft& event);
  void Handle(const WorkerDied& event);
  void Handle(const Beat& event);
  void Handle(const SlotsChanged& event);
  void Handle(const Quarantined& event);
  void Handle(const Released& event);
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
  // It belongs to the lease, and its submitter pays for it; and no longer.
  void Lend(TaskRecord* record, Lease* lease);
  void Unlend(TaskRecord* record);
  // Ends the claim of its live or lapsed lease and lets it wait; held back for `hold_ns`.
  // With the rest of its unit; `cause` is of it alone.
  void RequeueTask(TaskRecord* record, const std::string& reason, int64_t hold_ns = 0,
                   const std::string& cause = {});
  void RequeueOne(TaskRecord* record, const std::string& reason, int64_t hold_ns,
                  const std::string& cause);
  // The others of its unit that have no result.
  std::vector<ExperimentId> PartnersOf(const TaskRecord& record) const;
  // It counts for nothing without `record`, which is concluded.
  void SkipPartners(const TaskRecord& record, const std::string& why);
  void AddTasks(const JobAdded& event);
  // Out of every WaitingSet for a while.
  void Hold(TaskRecord* record, int64_t hold_ns);
  // After a restart: what waits for another try waits its time anew. Meanwhile workers come back,
  // so that it does not go where it failed because that one was there first.
  void HoldFailed();
  void ReleaseHeld();
  void ActOn(const FailureClusters::Verdict& verdict, Slot* slot, bool others_can,
             const std::string& reason);
  void ConcludeTask(TaskRecord* record, plan::Outcome outcome, const std::string& status,
                    plan::Blame blame, const std::string& reason);
  void CountCrash(TaskRecord* record, const WorkerId& worker);
  // It and the rest of its unit go elsewhere while they can; `device`: the slot's is to blame, and
  // not the worker.
  void SendElsewhere(TaskRecord* record, const Slot& slot, bool device);
  // Whether a slot that fits is known on whose device it has not failed.
  bool KnownElsewhere(const TaskRecord& record) const;

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
  // What has not started there goes elsewhere.
  void Evacuate(const Slot& slot, const std::string& reason);
  void Stop(Slot* slot, const std::string& reason);

  // What nobody can run.
  enum class Missing { kNothing, kBuildNeed, kPlace };
  Missing MissingFor(const WorkClass& work_class) const;
  std::string DescribeMissing(const WorkClass& work_class) const;
  void ArmUnplaceable(int index, const Job& job);
  void DisarmUnplaceable(int index);
  void ReviewUnplaceable();
  void ExpireUnplaceable();
  void ConcludeUnplaceable(int index, JobId job);

  // Dispatch.
  void Dispatch();
  void DispatchClass(WorkClass* work_class);
  bool TryGrant(Slot* slot);
  std::vector<ExperimentId> ChooseFor(const Slot& slot) const;
  std::vector<ExperimentId> ChooseAt(const Slot& slot, int negative_priority) const;
  std::vector<ExperimentId> ChooseFrom(const Slot& slot, const JobOrder& job, int index) const;
  // Whether what of `job` waits in the class would miss the job's deadline at the share of slots
  // that it has.
  bool InDanger(const Job& job, int index, MonotonicTime now) const;
  // Whether the slot can take what waits in the class, now or when its lease has ended.
  bool CanTake(const SlotId& id, int index) const;
  // Whether a task that came back from somewhere can go to a slot that suits it better than `slot`:
  // best is a worker that it did not come back from, then a slot that did not fail it, then any but
  // those of the worker that it came back from last.
  bool BetterElsewhere(const Slot& slot, int index, const WaitingTask& task) const;
  void GrantTo(Slot* slot, const std::vector<ExperimentId>& experiments);
  void TakeOver(TaskRecord* record, std::map<LeaseEpoch, std::vector<ExperimentId>>* revoked);

  // Answers.
  std::string ExplainOrder(const TaskRecord& record, MonotonicTime now) const;
  std::string ExplainSlot(const Slot& slot, const TaskRecord& record) const;
  std::string ExplainWorker(const Worker& worker, const TaskRecord& record,
                            MonotonicTime now) const;
  std::string ExplainSlots(const Worker& worker, const TaskRecord& record) const;
  Work LeasedWork(const Job& job, MonotonicTime now, Eta* longest) const;
  Work AheadWork(const Job& job, int index, MonotonicTime now) const;

  // Invariants.
  void CheckTasks() const;
  void CheckLeases() const;
  void CheckSlots() const;
  void CheckTimers() const;

  const Options options_;
  MonotonicTime now_;
  std::unordered_map<ExperimentId, TaskRecord> tasks_;
  std::map<JobId, Job> jobs_;
  Fleet fleet_;
  Leases leases_;
  Matcher matcher_;
  FairShare share_;
  FailureClusters clusters_;
  std::set<std::pair<MonotonicTime, ExperimentId>> held_;
  // When the wait for a worker that is not known ends: by (class, job), and in order.
  std::map<std::pair<int, JobId>, MonotonicTime> unplaceable_at_;
  std::set<std::tuple<MonotonicTime, int, JobId>> unplaceable_;
  bool review_unplaceable_ = false;  // an offer changed
  std::vector<Action> actions_;
  // Where something may be granted that could not before this event.
  std::set<int> dirty_classes_;
  std::set<std::pair<int64_t, Slot*>> dirty_slots_;
};

inline WaitingTask WaitingOf(const TaskRecord& record) {
  return {record.task.queue_order,
          record.task.id,
          record.task.expected_s,
          record.avoid,
          record.task.home,
          record.task.place_s,
          std::max(0.0, record.task.p90_s - record.task.expected_s),
          !record.task.unit.empty(),
          record.task.pinned,
          record.failed_on,
          record.task.rank};
}
// By which tasks wait together.
inline const std::string& GroupOf(const TaskRecord& record) {
  return record.task.unit.empty() ? record.task.model : record.task.unit;
}

}  // namespace dynbench::scheduler

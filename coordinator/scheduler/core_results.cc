#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

void Core::Handle(const Started& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr || record->lease != event.attempt.lease || record->started) return;
  record->started = true;
  record->started_at = now_;
}

void Core::Handle(const Finished& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr) return;
  if (record->lease && record->lease == event.attempt.lease) {
    clusters_.Succeeded(leases_.Find(record->lease)->slot->id());
  }
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
  Slot* slot = leases_.Find(record->lease)->slot;
  const WorkerId& worker = slot->worker->id;
  if (event.phase_limit) {
    record->avoid = worker;
    RequeueTask(record, event.reason, 0, "phase_limit");
    return;
  }
  if (!event.infrastructure_failure) {
    RequeueTask(record, absl::StrCat("worker ", worker.value, " gave it back: ", event.reason));
    return;
  }
  const int failure = ++record->infrastructure_failures;
  // Before the record may be gone; what it decides takes effect after.
  const FailureClusters::Verdict verdict =
      clusters_.Failed(slot->id(), event.signature.empty() ? event.reason : event.signature, now_);
  const bool others_can = matcher_.at(record->work_class).OthersCan(worker);
  if (failure > options_.infrastructure_retries) {
    SkipPartners(*record, absl::StrCat("the other side of its round was lost: ", event.reason));
    ConcludeTask(record, plan::Outcome::kLost, "lost", plan::Blame::kInfrastructure,
                 absl::StrCat("infrastructure failed ", failure, " times, last on worker ",
                              worker.value, ": ", event.reason));
  } else {
    record->avoid = worker;
    record->last_failure = absl::StrCat("on worker ", worker.value, ": ", event.reason);
    RequeueTask(record,
                absl::StrCat("infrastructure failure ", failure, " on worker ", worker.value, ": ",
                             event.reason),
                BackoffNs(options_.backoff, record->task.id, failure), "infrastructure");
  }
  ActOn(verdict, slot, others_can, event.reason);
}

void Core::ActOn(const FailureClusters::Verdict& verdict, Slot* slot, bool others_can,
                 const std::string& reason) {
  // The last worker that can do the work is not stopped: that would end the night, not a host.
  if (verdict.stop_slot && others_can && slot->quarantine.empty()) {
    const std::string why =
        absl::StrCat(verdict.failures, " equal infrastructure failures in a row: ", reason);
    actions_.push_back(Quarantine{slot->id(), why});
    Stop(slot, why);
  } else if (verdict.report || verdict.stop_slot) {
    actions_.push_back(ReportCluster{reason, verdict.failures, verdict.workers});
  }
}

void Core::CountCrash(TaskRecord* record, const WorkerId& worker) {
  record->last_worker = WorkerId();
  if (++record->crashes >= options_.crash_budget) {
    SkipPartners(*record, "the other side of its round is a failure: its worker died with it");
    ConcludeTask(
        record, plan::Outcome::kFailed, "crash", plan::Blame::kModel,
        absl::StrCat("its worker died ", record->crashes, " times while it ran, last worker ",
                     worker.value, "; the crash budget is ", options_.crash_budget));
    return;
  }
  if (!record->lease) return;  // it waits already
  RequeueTask(record,
              absl::StrCat("worker ", worker.value, " died while it ran (", record->crashes, " of ",
                           options_.crash_budget, " deaths that are forgiven at most)"),
              0, "crash");
}

void Core::Handle(const WorkerDied& event) {
  for (const ExperimentId experiment : event.running) {
    TaskRecord* record = Find(experiment);
    if (record != nullptr && record->last_worker == event.worker) CountCrash(record, event.worker);
  }
}

}  // namespace dynbench::scheduler

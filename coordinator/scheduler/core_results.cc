#include <algorithm>
#include <utility>

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

void Core::SendElsewhere(TaskRecord* record, const Slot& slot, bool device) {
  std::vector<ExperimentId> all = PartnersOf(*record);
  all.push_back(record->task.id);
  // Sides that shunned different places would wait for each other's.
  for (const ExperimentId id : all) {
    TaskRecord* side = Find(id);
    side->avoid = slot.worker->id;
    side->failed_on.insert({slot.worker->id, device ? slot.offer.index : kEverySlot});
    if (device) side->lost_devices.insert(slot.id());
  }
}

bool Core::KnownElsewhere(const TaskRecord& record) const {
  size_t failed = 0;
  for (const SlotId& id : record.lost_devices) {
    const auto& slots = fleet_.Find(id.worker)->slots;  // neither is ever forgotten
    const std::vector<int>& matches = slots.at(id.index)->matches;
    failed += static_cast<size_t>(std::count(matches.begin(), matches.end(), record.work_class));
  }
  return matcher_.at(record.work_class).known > failed;
}

void Core::Handle(const Returned& event) {
  TaskRecord* record = Find(event.attempt.experiment);
  if (record == nullptr || !record->lease || record->lease != event.attempt.lease) return;
  Lease* lease = leases_.Find(record->lease);
  Slot* slot = lease->slot;
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
  const bool device = plan::BlamesDevice(event.status);
  SendElsewhere(record, *slot, device);
  const std::string where =
      absl::StrCat(device ? absl::StrCat("slot ", slot->offer.index, " of ") : std::string(),
                   "worker ", worker.value, ": ", event.reason);
  // Before the record may be gone; what it decides takes effect after. A device, or a disk, fails
  // what runs in all lanes at once: that is one failure of the slot.
  FailureClusters::Verdict verdict;
  const bool shared = device || event.status == plan::kNoSpace;
  if (!shared || !std::exchange(lease->shared_failure, true)) {
    verdict = clusters_.Failed(slot->id(), event.signature.empty() ? event.reason : event.signature,
                               now_);
  }
  const bool others_can = matcher_.at(record->work_class).OthersCan(worker);
  const bool nowhere = device && !KnownElsewhere(*record);
  if (failure > options_.infrastructure_retries || nowhere) {
    SkipPartners(*record, absl::StrCat("the other side of its round was lost: ", event.reason));
    ConcludeTask(record, plan::Outcome::kLost, event.status.empty() ? "lost" : event.status,
                 plan::Blame::kInfrastructure,
                 absl::StrCat("infrastructure failed ", failure, failure == 1 ? " time" : " times",
                              nowhere ? ", and no other slot is known that could run it" : "",
                              ", last on ", where));
  } else {
    record->last_failure = absl::StrCat("on ", where);
    RequeueTask(record, absl::StrCat("infrastructure failure ", failure, " on ", where),
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

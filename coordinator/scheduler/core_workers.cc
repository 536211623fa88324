#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

void Core::Release(Lease* lease, ExperimentId experiment) {
  CHECK_EQ(lease->outstanding.erase(experiment), size_t{1});
  if (!lease->outstanding.empty()) return;
  Slot* slot = lease->slot;
  actions_.push_back(CloseLease{lease->epoch});
  leases_.Erase(lease);
  UpdateSlot(slot);
  ArmIfNeeded(slot->worker);
}

void Core::RevokeFrom(const Lease& lease, std::vector<ExperimentId> experiments,
                      const std::string& reason) {
  // A worker that is away learns of it when it names the lease again.
  if (experiments.empty() || !lease.slot->worker->connected) return;
  actions_.push_back(Revoke{lease.slot->worker->id, lease.epoch, std::move(experiments), reason});
}

void Core::ArmIfNeeded(Worker* worker) {
  const bool live = std::any_of(worker->leases.begin(), worker->leases.end(),
                                [this](LeaseEpoch epoch) { return !leases_.Find(epoch)->lapsed; });
  if (live) {
    fleet_.Arm(worker, options_.lease_ttl_ns);
  } else {
    fleet_.Disarm(worker);
  }
}

void Core::UpdateSlot(Slot* slot) {
  const std::vector<int> before = slot->classes;
  matcher_.Update(slot);
  if (slot->eligible && !slot->lease) dirty_slots_.insert({slot->ordinal, slot});
  // Where fewer workers can run a class, what avoids the last one of them may go there now.
  if (before != slot->classes) dirty_classes_.insert(before.begin(), before.end());
}

void Core::UpdateSlots(Worker* worker) {
  for (auto& [index, slot] : worker->slots) UpdateSlot(slot.get());
}

void Core::Offer(Worker* worker, const std::vector<SlotOffer>& offers) {
  std::set<int> offered;
  for (const SlotOffer& offer : offers) {
    Slot* slot = fleet_.GetOrAddSlot(worker, offer.index);
    offered.insert(offer.index);
    if (slot->present && slot->offer == offer) continue;
    const std::vector<int> before = slot->classes;
    slot->offer = offer;
    slot->present = true;
    matcher_.Rematch(slot);
    dirty_classes_.insert(before.begin(), before.end());
  }
  for (auto& [index, slot] : worker->slots) {
    if (!slot->present || offered.count(index) > 0) continue;
    dirty_classes_.insert(slot->classes.begin(), slot->classes.end());
    slot->present = false;
    matcher_.Rematch(slot.get());
  }
  UpdateSlots(worker);
  review_unplaceable_ = true;
}

void Core::Heard(Worker* worker) {
  worker->last_beat = now_;
  worker->silent = false;
}

void Core::Lapse(Worker* worker) {
  worker->silent = true;
  for (const LeaseEpoch epoch : worker->leases) {
    Lease* lease = leases_.Find(epoch);
    if (lease->lapsed) continue;
    lease->lapsed = true;
    for (const ExperimentId experiment : lease->outstanding) {
      TaskRecord& record = tasks_.at(experiment);
      record.state = TaskState::kWaiting;
      record.waiting_since = now_;
      AddWaiting(record);
    }
  }
  fleet_.Disarm(worker);
  UpdateSlots(worker);
}

void Core::Restore(Lease* lease) {
  if (!lease->lapsed) return;
  lease->lapsed = false;
  for (const ExperimentId experiment : lease->outstanding) {
    TaskRecord& record = tasks_.at(experiment);
    RemoveWaiting(record, lease->slot->worker->id);
    record.state = TaskState::kLeased;
  }
}

void Core::RestoreAll(Worker* worker) {
  for (const LeaseEpoch epoch : worker->leases) Restore(leases_.Find(epoch));
  ArmIfNeeded(worker);
}

void Core::Handle(const Recovered& event) {
  for (const Recovered::Lease& recovered : event.leases) {
    leases_.Raise(recovered.epoch);
    Worker* worker = fleet_.GetOrAdd(recovered.slot.worker);
    worker->last_beat = now_;
    Slot* slot = fleet_.GetOrAddSlot(worker, recovered.slot.index);
    Lease* lease = nullptr;
    for (const ExperimentId experiment : recovered.experiments) {
      TaskRecord* record = Find(experiment);
      if (record == nullptr || record->lease) continue;
      if (lease == nullptr) lease = leases_.Add(recovered.epoch, slot);
      RemoveWaiting(*record, worker->id);
      Lend(record, lease);
    }
    if (lease == nullptr) actions_.push_back(CloseLease{recovered.epoch});
    ArmIfNeeded(worker);
  }
  HoldFailed();
}

void Core::Adopt(Lease* lease, const HeldLease* held) {
  const LeaseEpoch epoch = lease->epoch;
  const WorkerId worker = lease->slot->worker->id;
  std::set<ExperimentId> named;
  if (held != nullptr) named.insert(held->experiments.begin(), held->experiments.end());
  std::vector<ExperimentId> gone;
  for (const ExperimentId experiment : lease->outstanding) {
    if (named.erase(experiment) == 0) gone.push_back(experiment);
  }
  if (!named.empty()) {
    actions_.push_back(Revoke{worker,
                              epoch,
                              {named.begin(), named.end()},
                              "no longer of this lease: concluded or leased again"});
  }
  if (gone.size() < lease->outstanding.size()) Restore(lease);
  // The last one of them closes the lease.
  for (const ExperimentId experiment : gone) {
    RequeueTask(Find(experiment), absl::StrCat("worker ", worker.value,
                                               " came back without it (lease ", epoch.value, ")"));
  }
}

void Core::Handle(const WorkerJoined& event) {
  Worker* worker = fleet_.GetOrAdd(event.worker);
  worker->connected = true;
  Heard(worker);
  Offer(worker, event.slots);
  std::map<LeaseEpoch, const HeldLease*> held;
  for (const HeldLease& lease : event.held) held[lease.epoch] = &lease;
  const std::vector<LeaseEpoch> known(worker->leases.begin(), worker->leases.end());
  for (const LeaseEpoch epoch : known) {
    const auto it = held.find(epoch);
    Adopt(leases_.Find(epoch), it == held.end() ? nullptr : it->second);
    if (it != held.end()) held.erase(it);
  }
  for (const auto& [epoch, lease] : held) {
    actions_.push_back(
        Revoke{worker->id, epoch, lease->experiments, "this lease was given up meanwhile"});
  }
  ArmIfNeeded(worker);
}

void Core::Handle(const WorkerKnown& event) {
  Worker* worker = fleet_.GetOrAdd(event.worker);
  if (!worker->connected) Offer(worker, event.slots);
}

void Core::Evacuate(const Slot& slot, const std::string& reason) {
  const Lease* lease = leases_.Find(slot.lease);
  if (lease == nullptr || lease->lapsed) return;
  std::vector<ExperimentId> unstarted;
  for (const ExperimentId experiment : lease->outstanding) {
    if (!tasks_.at(experiment).started) unstarted.push_back(experiment);
  }
  RevokeFrom(*lease, unstarted, reason);
  // The last one of them may close the lease.
  for (const ExperimentId experiment : unstarted) RequeueTask(Find(experiment), reason);
}

void Core::Stop(Slot* slot, const std::string& reason) {
  slot->quarantine = reason;
  UpdateSlot(slot);
  Evacuate(*slot, absl::StrCat("slot ", slot->offer.index, " of worker ", slot->worker->id.value,
                               " was quarantined: ", reason));
}

void Core::Handle(const Quarantined& event) {
  const std::string reason = event.reason.empty() ? "by an operator" : event.reason;
  Worker* worker = fleet_.GetOrAdd(event.worker);
  if (event.slot >= 0) return Stop(fleet_.GetOrAddSlot(worker, event.slot), reason);
  worker->quarantine = reason;
  UpdateSlots(worker);
  for (auto& [index, slot] : worker->slots) {
    Evacuate(*slot, absl::StrCat("worker ", worker->id.value, " was quarantined: ", reason));
  }
}

void Core::Handle(const Released& event) {
  Worker* worker = fleet_.Find(event.worker);
  if (worker == nullptr) return;
  if (event.slot < 0) worker->quarantine.clear();
  for (auto& [index, slot] : worker->slots) {
    if (event.slot >= 0 && event.slot != index) continue;
    slot->quarantine.clear();
    clusters_.Succeeded(slot->id());
  }
  UpdateSlots(worker);
}

void Core::Handle(const WorkerLeft& event) {
  Worker* worker = fleet_.Find(event.worker);
  if (worker == nullptr) return;
  worker->connected = false;
  UpdateSlots(worker);
}

void Core::Handle(const Beat& event) {
  Worker* worker = fleet_.Find(event.worker);
  if (worker == nullptr || !worker->connected) return;
  const bool was_silent = worker->silent;
  Heard(worker);
  if (was_silent) {
    RestoreAll(worker);
    UpdateSlots(worker);
  } else if (fleet_.armed(*worker)) {
    fleet_.Arm(worker, options_.lease_ttl_ns);
  }
}

void Core::Handle(const SlotsChanged& event) {
  Worker* worker = fleet_.Find(event.worker);
  if (worker != nullptr) Offer(worker, event.slots);
}

void Core::Handle(const Resumed&) {
  for (const auto& [id, worker] : fleet_.workers()) {
    worker->last_beat = now_;
    if (fleet_.armed(*worker)) fleet_.Arm(worker.get(), options_.lease_ttl_ns);
  }
}

void Core::Handle(const Tick&) {
  while (Worker* worker = fleet_.Expired(now_)) Lapse(worker);
}

MonotonicTime Core::NextDeadline(MonotonicTime now) const {
  MonotonicTime deadline = now + int64_t{24} * 3600 * kNsPerSecond;
  fleet_.NextDeadline(&deadline);
  if (!held_.empty()) deadline = std::min(deadline, held_.begin()->first);
  if (!unplaceable_.empty()) deadline = std::min(deadline, std::get<0>(*unplaceable_.begin()));
  return deadline;
}

}  // namespace dynbench::scheduler

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/plan/partition.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

void Core::Dispatch() {
  for (const auto& [ordinal, slot] : dirty_slots_) TryGrant(slot);
  dirty_slots_.clear();
  for (const int index : dirty_classes_) DispatchClass(&matcher_.at(index));
  dirty_classes_.clear();
}

void Core::DispatchClass(WorkClass* work_class) {
  // Slots that have its environment at hand first. A grant takes the slot out of the set, so the
  // walk goes on from where it was instead of holding an iterator.
  for (const bool warm : {true, false}) {
    int64_t after = -1;
    while (!work_class->jobs.empty()) {
      const auto& idle = warm ? work_class->warm : work_class->idle;
      const auto it = idle.lower_bound({after + 1, nullptr});
      if (it == idle.end()) break;
      after = it->first;
      TryGrant(it->second);
    }
  }
}

std::vector<ExperimentId> Core::ChooseFrom(const Slot& slot, const JobOrder& job, int index) const {
  const WorkClass& work_class = matcher_.at(index);
  const WaitingSet& waiting = jobs_.at(job.job).waiting.at(index);
  const size_t chunk = plan::DynamicChunk(waiting.size(), work_class.capable, options_.chunk_limit);
  return waiting.Choose(slot.worker->id, chunk, work_class.OthersCan(slot.worker->id));
}

std::vector<ExperimentId> Core::ChooseFor(const Slot& slot) const {
  // The jobs of all classes of the slot, merged in the order of jobs; within a job the class that
  // the slot is warm for comes first. Nearly always the first candidate answers.
  struct Candidate {
    int index;
    bool cold;
    std::set<JobOrder>::const_iterator at;
  };
  std::vector<Candidate> candidates;
  for (const int index : slot.classes) {
    const WorkClass& work_class = matcher_.at(index);
    if (work_class.jobs.empty()) continue;
    candidates.push_back({index, !work_class.WarmOn(slot), work_class.jobs.begin()});
  }
  while (!candidates.empty()) {
    const auto best = std::min_element(
        candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
          return std::tie(*a.at, a.cold, a.index) < std::tie(*b.at, b.cold, b.index);
        });
    std::vector<ExperimentId> chosen = ChooseFrom(slot, *best->at, best->index);
    if (!chosen.empty()) return chosen;
    if (++best->at == matcher_.at(best->index).jobs.end()) candidates.erase(best);
  }
  return {};
}

bool Core::TryGrant(Slot* slot) {
  if (!slot->eligible || slot->lease) return false;
  const std::vector<ExperimentId> chosen = ChooseFor(*slot);
  if (chosen.empty()) return false;
  GrantTo(slot, chosen);
  return true;
}

void Core::TakeOver(TaskRecord* record, std::map<LeaseEpoch, std::vector<ExperimentId>>* revoked) {
  Lease* lapsed = leases_.Find(record->lease);
  CHECK(lapsed != nullptr && lapsed->lapsed);
  const Worker& worker = *lapsed->slot->worker;
  actions_.push_back(
      Requeue{record->task.id, lapsed->epoch,
              absl::StrCat("lease ", lapsed->epoch.value, " expired: worker ", worker.id.value,
                           " was not heard for ", options_.lease_ttl_ns / kNsPerSecond, " s")});
  if (worker.connected) (*revoked)[lapsed->epoch].push_back(record->task.id);
  record->lease = LeaseEpoch();
  record->started = false;
  jobs_.at(record->task.job).leased.erase(record->task.id);
}

void Core::GrantTo(Slot* slot, const std::vector<ExperimentId>& experiments) {
  std::map<LeaseEpoch, std::vector<ExperimentId>> revoked;
  std::vector<std::pair<LeaseEpoch, ExperimentId>> released;
  for (const ExperimentId experiment : experiments) {
    TaskRecord& record = tasks_.at(experiment);
    if (!record.lease) continue;
    released.emplace_back(record.lease, experiment);
    TakeOver(&record, &revoked);
  }
  for (auto& [epoch, list] : revoked) {
    RevokeFrom(*leases_.Find(epoch), std::move(list), "leased again after its lease expired");
  }
  for (const auto& [epoch, experiment] : released) Release(leases_.Find(epoch), experiment);

  Lease* lease = leases_.Add(leases_.NextEpoch(), slot);
  for (const ExperimentId experiment : experiments) {
    TaskRecord& record = tasks_.at(experiment);
    RemoveWaiting(record, slot->worker->id);
    record.state = TaskState::kLeased;
    record.lease = lease->epoch;
    record.last_worker = slot->worker->id;
    lease->outstanding.insert(experiment);
    jobs_.at(record.task.job).leased.insert(experiment);
  }
  const Task& last = tasks_.at(experiments.back()).task;
  slot->last_environment = last.environment;
  slot->last_profile = last.profile;
  actions_.push_back(Grant{lease->epoch, slot->id(), experiments});
  matcher_.Update(slot);
  ArmIfNeeded(slot->worker);
}

}  // namespace dynbench::scheduler

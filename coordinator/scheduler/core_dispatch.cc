#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/plan/partition.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {
namespace {

// Lanes-full of experiments in one lease of a slot that is the only one: few enough that a second
// worker, should one come, does not wait for an hour.
constexpr size_t kLeasesWithoutRival = 4;

}  // namespace

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
  Asking asking;
  asking.worker = slot.worker->id;
  asking.slots = work_class.capable;
  asking.chunk = plan::DynamicChunk(waiting.size(), work_class.capable, options_.chunk_limit);
  asking.chunk_min_s = options_.chunk_min_s;
  if (waiting.expected_s() <= options_.chunk_min_s * static_cast<double>(asking.slots)) {
    asking.chunk = options_.chunk_limit;
  }
  if (slot.offer.lanes > 1) {
    // A slot has one lease at a time, so what it lacks to fill its lanes stays empty until the
    // whole lease has ended. Where no other slot can take any of it, that is true of the tail as
    // well.
    asking.fill =
        static_cast<size_t>(slot.offer.lanes) * (work_class.capable == 1 ? kLeasesWithoutRival : 1);
    asking.chunk = std::max(asking.chunk, asking.fill);
  }
  asking.others_can = work_class.OthersCan(slot.worker->id);
  asking.slot = slot.offer.index;
  asking.can_take = [this, index](const SlotId& id) { return CanTake(id, index); };
  asking.better = [this, &slot, index](const WaitingTask& task) {
    return BetterElsewhere(slot, index, task);
  };
  return waiting.Choose(asking);
}

bool Core::CanTake(const SlotId& id, int index) const {
  const Worker* worker = fleet_.Find(id.worker);
  if (worker == nullptr) return false;
  const auto found = worker->slots.find(id.index);
  if (found == worker->slots.end() || !found->second->eligible) return false;
  const std::vector<int>& classes = found->second->classes;
  return std::find(classes.begin(), classes.end(), index) != classes.end();
}

bool Core::BetterElsewhere(const Slot& slot, int index, const WaitingTask& task) const {
  if (!task.Shuns(slot.worker->id)) return false;
  // Of each worker that it came back from: its slots that failed it and could take it.
  std::map<WorkerId, int> failed;
  if (task.avoid) failed[task.avoid] = 0;
  for (const SlotId& id : task.failed_on) failed[id.worker] += CanTake(id, index) ? 1 : 0;
  const std::map<WorkerId, int>& capable = matcher_.at(index).capable_by_worker;
  size_t among = 0;
  bool spared = false;  // a slot of theirs that did not fail it
  bool former = false;  // one that failed it, but not of the worker that did last
  for (const auto& [worker, slots] : failed) {
    const auto found = capable.find(worker);
    if (found == capable.end()) continue;
    ++among;
    const bool whole = task.failed_on.count({worker, kEverySlot}) > 0;
    spared = spared || (!whole && found->second > slots);
    former = former || worker != task.avoid;
  }
  if (capable.size() > among) return true;
  if (!task.FailedOn(slot.id())) return false;
  return spared || (former && slot.worker->id == task.avoid);
}

bool Core::InDanger(const Job& job, int index, MonotonicTime now) const {
  if (!job.deadline) return false;
  const WorkClass& work_class = matcher_.at(index);
  const WaitingSet& waiting = job.waiting.at(index);
  const auto level = work_class.jobs.levels().find(job.order.negative_priority);
  const size_t users = level == work_class.jobs.levels().end() ? 1 : level->second.by_user.size();
  const double slots = std::max(1.0, static_cast<double>(work_class.capable) /
                                         static_cast<double>(std::max<size_t>(users, 1)));
  const double need_s = std::max(waiting.expected_s() / slots, waiting.longest().expected_s);
  return static_cast<double>(*job.deadline - now) <
         need_s * options_.deadline_margin * static_cast<double>(kNsPerSecond);
}

// One priority: jobs in danger by their deadline, then the submitters by what they had, then jobs
// as they were submitted; within a job the class that the slot is warm for comes first. Nearly
// always the first candidate answers.
std::vector<ExperimentId> Core::ChooseAt(const Slot& slot, int negative_priority) const {
  struct Candidate {
    double score;  // of the submitter
    std::set<JobOrder>::const_iterator at, end;
    bool cold;
    int index;
  };
  std::vector<Candidate> candidates;
  std::set<std::tuple<MonotonicTime, JobOrder, bool, int>> in_danger;
  for (const int index : slot.classes) {
    const WorkClass& work_class = matcher_.at(index);
    const auto level = work_class.jobs.levels().find(negative_priority);
    if (level == work_class.jobs.levels().end()) continue;
    const bool cold = !work_class.WarmOn(slot);
    for (const auto& [deadline, order] : level->second.deadlines) {
      if (InDanger(jobs_.at(order.job), index, now_))
        in_danger.insert({deadline, order, cold, index});
    }
    for (const auto& [user, orders] : level->second.by_user) {
      candidates.push_back({share_.Score(user, now_), orders.begin(), orders.end(), cold, index});
    }
  }
  for (const auto& [deadline, order, cold, index] : in_danger) {
    std::vector<ExperimentId> chosen = ChooseFrom(slot, order, index);
    if (!chosen.empty()) return chosen;
  }
  while (!candidates.empty()) {
    const auto best = std::min_element(candidates.begin(), candidates.end(),
                                       [](const Candidate& a, const Candidate& b) {
                                         return std::tie(a.score, *a.at, a.cold, a.index) <
                                                std::tie(b.score, *b.at, b.cold, b.index);
                                       });
    std::vector<ExperimentId> chosen = ChooseFrom(slot, *best->at, best->index);
    if (!chosen.empty()) return chosen;
    if (++best->at == best->end) candidates.erase(best);
  }
  return {};
}

std::vector<ExperimentId> Core::ChooseFor(const Slot& slot) const {
  std::set<int> priorities;
  for (const int index : slot.classes) {
    for (const auto& [negative, level] : matcher_.at(index).jobs.levels()) {
      priorities.insert(negative);
    }
  }
  for (const int negative : priorities) {
    std::vector<ExperimentId> chosen = ChooseAt(slot, negative);
    if (!chosen.empty()) return chosen;
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
#ifndef DYNBENCH_PLANT_DOUBLE_ASSIGN  // a planted bug: docs/reliability.md, "Simulation"
  actions_.push_back(
      Requeue{record->task.id, lapsed->epoch,
              absl::StrCat("lease ", lapsed->epoch.value, " expired: worker ", worker.id.value,
                           " was not heard for ", options_.lease_ttl_ns / kNsPerSecond, " s")});
#endif
  if (worker.connected) (*revoked)[lapsed->epoch].push_back(record->task.id);
  Unlend(record);
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
  Grant grant{lease->epoch, slot->id(), experiments};
  for (const ExperimentId experiment : experiments) {
    TaskRecord& record = tasks_.at(experiment);
    RemoveWaiting(record, slot->worker->id);
    Lend(&record, lease);
    const WorkerId& home = record.task.home;
    if (home && home != slot->worker->id) grant.moved[experiment] = home;
  }
  const Task& last = tasks_.at(experiments.back()).task;
  slot->last_environment = last.environment;
  slot->last_profile = last.profile;
  actions_.push_back(std::move(grant));
  matcher_.Update(slot);
  ArmIfNeeded(slot->worker);
}

}  // namespace dynbench::scheduler

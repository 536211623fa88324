#include "coordinator/scheduler/matching.h"

#include <algorithm>
#include <tuple>

namespace dynbench::scheduler {

void WaitingJobs::Insert(const Job& job) {
  Level& level = levels_[job.order.negative_priority];
  level.by_user[job.user].insert(job.order);
  if (job.deadline) level.deadlines.insert({*job.deadline, job.order});
}

void WaitingJobs::Erase(const Job& job) {
  const auto level = levels_.find(job.order.negative_priority);
  if (level == levels_.end()) return;
  if (job.deadline) level->second.deadlines.erase({*job.deadline, job.order});
  const auto user = level->second.by_user.find(job.user);
  if (user == level->second.by_user.end()) return;
  user->second.erase(job.order);
  if (user->second.empty()) level->second.by_user.erase(user);
  if (level->second.by_user.empty()) levels_.erase(level);
}

bool WaitingJobs::Contains(const Job& job) const {
  const auto level = levels_.find(job.order.negative_priority);
  if (level == levels_.end()) return false;
  const auto user = level->second.by_user.find(job.user);
  return user != level->second.by_user.end() && user->second.count(job.order) > 0;
}

std::vector<std::string> WorkClass::Environments() const {
  return needs.environments.empty() ? std::vector<std::string>{environment} : needs.environments;
}

bool WorkClass::Matches(const Slot& slot) const {
  const SlotOffer& offer = slot.offer;
  if (offer.device != device || offer.environments.count(environment) == 0) return false;
  if (needs.empty()) return true;
  for (const std::string& name : Environments()) {
    if (offer.environments.count(name) == 0) return false;
    const plan::EnvironmentOffer& facts = offer.FactsOf(name);
    if (!plan::MissingRequirement(needs, offer.labels, facts).empty() ||
        !plan::MissingBuildNeed(needs, facts).empty()) {
      return false;
    }
  }
  return true;
}

bool WorkClass::WarmOn(const Slot& slot) const {
  return slot.last_environment == environment && slot.last_profile == profile;
}

bool WorkClass::FailsOn(const Slot& slot) const {
  const std::vector<std::string> environments = Environments();
  return std::any_of(environments.begin(), environments.end(),
                     [&](const std::string& name) { return slot.offer.failing.count(name) > 0; });
}

bool WorkClass::OthersCan(const WorkerId& worker) const {
  return capable_by_worker.size() > 1 ||
         (capable_by_worker.size() == 1 && capable_by_worker.begin()->first != worker);
}

int Matcher::ClassOf(const Task& task) {
  const auto [it, added] =
      index_.try_emplace(std::tuple(task.device, task.environment, task.profile, task.needs),
                         static_cast<int>(classes_.size()));
  const int index = it->second;
  if (!added) return index;
  WorkClass work_class;
  work_class.device = task.device;
  work_class.environment = task.environment;
  work_class.profile = task.profile;
  work_class.needs = task.needs;
  classes_.push_back(std::move(work_class));
  for (const auto& [ordinal, slot] : slots_) {
    if (!at(index).Matches(*slot)) continue;
    Know(slot, index);
    if (!slot->eligible || at(index).FailsOn(*slot)) continue;
    slot->classes.push_back(index);
    Enter(slot, index);
  }
  known_changes_.insert(index);
  return index;
}

void Matcher::Know(Slot* slot, int index) {
  slot->matches.push_back(index);
  if (++at(index).known == 1) known_changes_.insert(index);
}

void Matcher::Enter(Slot* slot, int index) {
  WorkClass& c = at(index);
  ++c.capable;
  ++c.capable_by_worker[slot->worker->id];
  if (slot->lease) return;
  c.idle.insert({slot->ordinal, slot});
  if (c.WarmOn(*slot)) c.warm.insert({slot->ordinal, slot});
}

void Matcher::Leave(Slot* slot, int index) {
  WorkClass& c = at(index);
  --c.capable;
  const auto it = c.capable_by_worker.find(slot->worker->id);
  if (--it->second == 0) c.capable_by_worker.erase(it);
  c.idle.erase({slot->ordinal, slot});
  c.warm.erase({slot->ordinal, slot});
}

void Matcher::Rematch(Slot* slot) {
  for (const int index : slot->classes) Leave(slot, index);
  slot->classes.clear();
  for (const int index : std::exchange(slot->matches, {})) {
    if (--at(index).known == 0) known_changes_.insert(index);
  }
  if (!slot->present) {
    slots_.erase(slot->ordinal);
    return;
  }
  slots_[slot->ordinal] = slot;
  for (int index = 0; index < size(); ++index) {
    if (at(index).Matches(*slot)) Know(slot, index);
  }
}

void Matcher::Update(Slot* slot) {
  for (const int index : slot->classes) Leave(slot, index);
  slot->classes.clear();
  slot->eligible = slot->CanTakeWork();
  if (!slot->eligible) return;
  for (const int index : slot->matches) {
    if (!at(index).FailsOn(*slot)) slot->classes.push_back(index);
  }
  for (const int index : slot->classes) Enter(slot, index);
}

}  // namespace dynbench::scheduler

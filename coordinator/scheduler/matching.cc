#include "coordinator/scheduler/matching.h"

#include <tuple>

namespace dynbench::scheduler {

bool WorkClass::Matches(const Slot& slot) const {
  return slot.offer.device == device && slot.offer.environments.count(environment) > 0;
}

bool WorkClass::WarmOn(const Slot& slot) const {
  return slot.last_environment == environment && slot.last_profile == profile;
}

bool WorkClass::OthersCan(const WorkerId& worker) const {
  return capable_by_worker.size() > 1 ||
         (capable_by_worker.size() == 1 && capable_by_worker.begin()->first != worker);
}

int Matcher::ClassOf(const Task& task) {
  const auto [it, added] = index_.try_emplace(
      std::tuple(task.device, task.environment, task.profile), static_cast<int>(classes_.size()));
  if (!added) return it->second;
  WorkClass work_class;
  work_class.device = task.device;
  work_class.environment = task.environment;
  work_class.profile = task.profile;
  classes_.push_back(std::move(work_class));
  for (const auto& [ordinal, slot] : eligible_) {
    if (!at(it->second).Matches(*slot)) continue;
    slot->classes.push_back(it->second);
    Enter(slot, it->second);
  }
  return it->second;
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

void Matcher::Update(Slot* slot) {
  for (const int index : slot->classes) Leave(slot, index);
  slot->classes.clear();
  slot->eligible = slot->present && slot->offer.accepting && slot->worker->audible();
  if (!slot->eligible) {
    eligible_.erase({slot->ordinal, slot});
    return;
  }
  eligible_.insert({slot->ordinal, slot});
  for (int index = 0; index < size(); ++index) {
    if (!at(index).Matches(*slot)) continue;
    slot->classes.push_back(index);
    Enter(slot, index);
  }
}

}  // namespace dynbench::scheduler

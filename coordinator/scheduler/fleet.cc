#include "coordinator/scheduler/fleet.h"

namespace dynbench::scheduler {

Worker* Fleet::Find(const WorkerId& id) {
  const auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : it->second.get();
}

const Worker* Fleet::Find(const WorkerId& id) const {
  const auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : it->second.get();
}

Worker* Fleet::GetOrAdd(const WorkerId& id) {
  std::unique_ptr<Worker>& worker = workers_[id];
  if (worker == nullptr) {
    worker = std::make_unique<Worker>();
    worker->id = id;
  }
  return worker.get();
}

Slot* Fleet::GetOrAddSlot(Worker* worker, int index) {
  std::unique_ptr<Slot>& slot = worker->slots[index];
  if (slot == nullptr) {
    slot = std::make_unique<Slot>();
    slot->ordinal = next_ordinal_++;
    slot->worker = worker;
    slot->offer.index = index;
  }
  return slot.get();
}

void Fleet::Arm(Worker* worker, int64_t ttl_ns) {
  const MonotonicTime deadline = worker->last_beat + ttl_ns;
  const auto [it, added] = deadline_of_.try_emplace(worker->id, deadline);
  if (!added) {
    if (it->second == deadline) return;
    deadlines_.erase({it->second, worker->id});
    it->second = deadline;
  }
  deadlines_.insert({deadline, worker->id});
}

void Fleet::Disarm(Worker* worker) {
  const auto it = deadline_of_.find(worker->id);
  if (it == deadline_of_.end()) return;
  deadlines_.erase({it->second, worker->id});
  deadline_of_.erase(it);
}

Worker* Fleet::Expired(MonotonicTime now) {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return nullptr;
  return Find(deadlines_.begin()->second);
}

bool Fleet::NextDeadline(MonotonicTime* deadline) const {
  if (deadlines_.empty()) return false;
  *deadline = deadlines_.begin()->first;
  return true;
}

}  // namespace dynbench::scheduler

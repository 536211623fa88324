#include "coordinator/session/holds.h"

namespace dynbench::session {

void Holds::Load(const store::HoldRows& rows) {
  for (const store::DrainRow& drain : rows.drains) Drain(drain);
  for (const store::QuarantineRow& quarantine : rows.quarantines) Quarantine(quarantine);
}

const store::DrainRow* Holds::DrainOf(const WorkerId& worker) const {
  const auto found = drains_.find(worker);
  return found == drains_.end() ? nullptr : &found->second;
}

const store::QuarantineRow* Holds::QuarantineOf(const SlotId& slot) const {
  const auto found = quarantines_.find(slot);
  return found == quarantines_.end() ? nullptr : &found->second;
}

std::vector<SlotId> Holds::QuarantinedSlots(const WorkerId& worker) const {
  std::vector<SlotId> slots;
  for (const auto& [slot, row] : quarantines_) {
    if (slot.worker == worker) slots.push_back(slot);
  }
  return slots;
}

SlotHold Holds::Of(const WorkerId& worker, const v1::Slot& slot) const {
  if (const store::DrainRow* drain = DrainOf(worker)) return {"drained", drain->reason};
  if (const store::QuarantineRow* q = QuarantineOf({worker, slot.index()})) {
    return {"quarantined", q->reason};
  }
  if (slot.accepting()) return {};
  // A worker of before these words only refuses when its disk is low.
  return {slot.state().empty() ? "disk_low" : slot.state(), slot.reason()};
}

}  // namespace dynbench::session

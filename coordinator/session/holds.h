// What operators, and the scheduler's look at failures, decided about slots: drains of workers and
// quarantines of slots. They hold whatever the worker says, and over restarts of either side
// (common/store/holds.h keeps them). Thread-compatible: the dispatcher's thread owns it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/store/holds.h"
#include "coordinator/scheduler/scheduler.h"
#include "dynbench/v1/session.pb.h"

namespace dynbench::session {

// Words of a quarantine's source, as the store has them.
inline constexpr char kByOperator[] = "operator";
inline constexpr char kByFailures[] = "failures";

// Why a slot takes nothing, as one word of the protocol (session.proto, Slot.state) and in words.
struct SlotHold {
  std::string state;  // empty: it takes work
  std::string reason;
};

class Holds {
 public:
  void Load(const store::HoldRows& rows);

  void Drain(const store::DrainRow& drain) { drains_[drain.worker] = drain; }
  void Quarantine(const store::QuarantineRow& quarantine) {
    quarantines_[quarantine.slot] = quarantine;
  }
  void Release(const WorkerId& worker) { drains_.erase(worker); }
  void Release(const SlotId& slot) { quarantines_.erase(slot); }

  // nullptr when there is none.
  const store::DrainRow* DrainOf(const WorkerId& worker) const;
  const store::QuarantineRow* QuarantineOf(const SlotId& slot) const;
  std::vector<SlotId> QuarantinedSlots(const WorkerId& worker) const;

  // What holds this slot: a drain, a quarantine, else what the worker itself says of it.
  SlotHold Of(const WorkerId& worker, const v1::Slot& slot) const;

 private:
  std::map<WorkerId, store::DrainRow> drains_;
  std::map<SlotId, store::QuarantineRow> quarantines_;
};

}  // namespace dynbench::session

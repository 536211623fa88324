// The leases that are live or lapsed. Private to the scheduler.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "common/base/check.h"
#include "common/base/ids.h"
#include "coordinator/scheduler/fleet.h"

namespace dynbench::scheduler {

struct Lease {
  LeaseEpoch epoch;
  Slot* slot = nullptr;
  std::set<ExperimentId> outstanding;  // without a result; never empty
  bool lapsed = false;                 // expired; its experiments may be leased elsewhere
  // One of them came back for want of what all of its lanes share: the device, or the disk.
  bool shared_failure = false;
};

// Knows every lease by its epoch and hands out new epochs.
class Leases {
 public:
  explicit Leases(LeaseEpoch first) : next_(first) { CHECK_GT(first.value, 0); }

  LeaseEpoch NextEpoch() { return LeaseEpoch(next_.value++); }
  // No later epoch may be at or below `epoch`.
  void Raise(LeaseEpoch epoch) {
    if (next_ <= epoch) next_ = LeaseEpoch(epoch.value + 1);
  }
  LeaseEpoch next() const { return next_; }

  Lease* Add(LeaseEpoch epoch, Slot* slot) {
    const auto [it, added] = leases_.try_emplace(epoch);
    CHECK(added) << "lease " << epoch << " exists";
    CHECK(!slot->lease) << "slot " << slot->id().worker << "/" << slot->id().index << " has lease "
                        << slot->lease;
    it->second.epoch = epoch;
    it->second.slot = slot;
    slot->lease = epoch;
    slot->worker->leases.insert(epoch);
    return &it->second;
  }
  void Erase(Lease* lease) {
    lease->slot->lease = LeaseEpoch();
    lease->slot->worker->leases.erase(lease->epoch);
    leases_.erase(lease->epoch);
  }
  Lease* Find(LeaseEpoch epoch) {
    const auto it = leases_.find(epoch);
    return it == leases_.end() ? nullptr : &it->second;
  }
  const std::unordered_map<LeaseEpoch, Lease>& all() const { return leases_; }

 private:
  std::unordered_map<LeaseEpoch, Lease> leases_;
  LeaseEpoch next_;
};

}  // namespace dynbench::scheduler

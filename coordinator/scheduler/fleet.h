// The workers and their slots, and when their leases expire. Private to the scheduler.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "coordinator/scheduler/scheduler.h"

namespace dynbench::scheduler {

struct Worker;

struct Slot {
  int64_t ordinal = 0;  // in the order in which slots became known; a stable order for sets
  Worker* worker = nullptr;
  SlotOffer offer;
  bool present = false;      // in the worker's last offer
  LeaseEpoch lease;          // live or lapsed; 0: none
  std::string quarantine;    // why it is quarantined; empty: it is not
  bool eligible = false;     // counted by the Matcher
  std::vector<int> matches;  // classes that it fits, while present
  std::vector<int> classes;  // of `matches`, while eligible, those whose environment works
  std::string last_environment;
  std::string last_profile;

  SlotId id() const;
  bool CanTakeWork() const;
};

struct Worker {
  WorkerId id;
  bool connected = false;
  bool silent = false;  // its leases expired; until it is heard again
  MonotonicTime last_beat;
  std::string quarantine;                      // why all of it is; empty: it is not
  std::map<int, std::unique_ptr<Slot>> slots;  // by index; slots are never forgotten
  std::set<LeaseEpoch> leases;                 // live and lapsed

  bool audible() const { return connected && !silent; }
};

inline SlotId Slot::id() const { return {worker->id, offer.index}; }
inline bool Slot::CanTakeWork() const {
  return present && offer.accepting && quarantine.empty() && worker->quarantine.empty() &&
         worker->audible();
}

class Fleet {
 public:
  Worker* Find(const WorkerId& id);
  const Worker* Find(const WorkerId& id) const;
  Worker* GetOrAdd(const WorkerId& id);
  Slot* GetOrAddSlot(Worker* worker, int index);
  const std::map<WorkerId, std::unique_ptr<Worker>>& workers() const { return workers_; }

  // The deadline of a worker's live leases: from its last beat. Without live leases there is none.
  void Arm(Worker* worker, int64_t ttl_ns);
  void Disarm(Worker* worker);
  bool armed(const Worker& worker) const { return deadline_of_.count(worker.id) > 0; }
  // The worker whose deadline is the earliest and not after `now`, or nullptr.
  Worker* Expired(MonotonicTime now);
  // False: there is no deadline.
  bool NextDeadline(MonotonicTime* deadline) const;

 private:
  std::map<WorkerId, std::unique_ptr<Worker>> workers_;
  std::set<std::pair<MonotonicTime, WorkerId>> deadlines_;
  std::map<WorkerId, MonotonicTime> deadline_of_;
  int64_t next_ordinal_ = 0;
};

}  // namespace dynbench::scheduler

// Which slots can run which experiments. Experiments with the same device, environment and launch
// profile form a work class; a slot belongs to every class that it can run, and each class knows
// its idle slots and the jobs that wait in it, so that nothing is ever searched. Private to the
// scheduler.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "coordinator/scheduler/fleet.h"
#include "coordinator/scheduler/tasks.h"

namespace dynbench::scheduler {

struct WorkClass {
  std::string device;
  std::string environment;
  std::string profile;
  std::set<JobOrder> jobs;                    // with experiments that wait in this class
  std::set<std::pair<int64_t, Slot*>> idle;   // by ordinal
  std::set<std::pair<int64_t, Slot*>> warm;   // the part of `idle` that ran this class last
  std::map<WorkerId, int> capable_by_worker;  // eligible slots, busy ones too
  size_t capable = 0;

  bool Matches(const Slot& slot) const;
  bool WarmOn(const Slot& slot) const;
  // Whether a worker other than `worker` could run it.
  bool OthersCan(const WorkerId& worker) const;
};

class Matcher {
 public:
  // The class of a task; made when it is the first of its kind.
  int ClassOf(const Task& task);
  WorkClass& at(int index) { return classes_[static_cast<size_t>(index)]; }
  const WorkClass& at(int index) const { return classes_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(classes_.size()); }

  // Recomputes what the slot counts for, from its worker, offer and lease. Call after any of them
  // changed.
  void Update(Slot* slot);

 private:
  void Enter(Slot* slot, int index);
  void Leave(Slot* slot, int index);

  std::vector<WorkClass> classes_;
  std::map<std::tuple<std::string, std::string, std::string>, int> index_;
  std::set<std::pair<int64_t, Slot*>> eligible_;
};

}  // namespace dynbench::scheduler

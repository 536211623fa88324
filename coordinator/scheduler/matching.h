// Which slots can run which experiments. Experiments with the same device, environment, launch
// profile and needs form a work class; a slot belongs to every class that it can run, and each
// class knows its idle slots and the jobs that wait in it, so that nothing is ever searched.
// Private to the scheduler.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/needs.h"
#include "coordinator/scheduler/fleet.h"
#include "coordinator/scheduler/tasks.h"

namespace dynbench::scheduler {

// The jobs with experiments that wait in one class.
class WaitingJobs {
 public:
  // Those of one priority.
  struct Level {
    std::map<std::string, std::set<JobOrder>> by_user;
    std::set<std::pair<MonotonicTime, JobOrder>> deadlines;
  };

  void Insert(const Job& job);
  void Erase(const Job& job);
  bool Contains(const Job& job) const;
  bool empty() const { return levels_.empty(); }
  // By negative priority: the highest first.
  const std::map<int, Level>& levels() const { return levels_; }

 private:
  std::map<int, Level> levels_;
};

struct WorkClass {
  std::string device;
  std::string environment;
  std::string profile;
  plan::Needs needs;
  WaitingJobs jobs;                           // with experiments that wait in this class
  std::set<std::pair<int64_t, Slot*>> idle;   // by ordinal
  std::set<std::pair<int64_t, Slot*>> warm;   // the part of `idle` that ran this class last
  std::map<WorkerId, int> capable_by_worker;  // eligible slots, busy ones too
  size_t capable = 0;
  size_t known = 0;  // slots that fit, whether or not they take work now or are connected

  // Every one that must be there: its own, and of a pair both.
  std::vector<std::string> Environments() const;
  bool Matches(const Slot& slot) const;
  bool WarmOn(const Slot& slot) const;
  // Its environment is there, but fails its check.
  bool FailsOn(const Slot& slot) const;
  // Whether a worker other than `worker` could run it.
  bool OthersCan(const WorkerId& worker) const;
};

// Why the slot is not of the class, for people: "has no cuda slot (has: cpu)". Empty: it is.
// `build_need`: only what the experiment itself is made of is missing. core_unplaceable.cc
std::string WhyNot(const WorkClass& work_class, const Slot& slot, bool* build_need);

class Matcher {
 public:
  // The class of a task; made when it is the first of its kind.
  int ClassOf(const Task& task);
  WorkClass& at(int index) { return classes_[static_cast<size_t>(index)]; }
  const WorkClass& at(int index) const { return classes_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(classes_.size()); }

  // What the slot fits has to be found anew. Call after its offer changed, then Update.
  void Rematch(Slot* slot);
  // Recomputes what the slot counts for, from its worker, hold and lease. Call after any of them
  // changed.
  void Update(Slot* slot);

  // Classes whose `known` became zero, or more than zero, since the last call.
  std::set<int> TakeKnownChanges() { return std::exchange(known_changes_, {}); }

 private:
  void Enter(Slot* slot, int index);
  void Leave(Slot* slot, int index);
  void Know(Slot* slot, int index);

  std::vector<WorkClass> classes_;
  std::map<std::tuple<std::string, std::string, std::string, plan::Needs>, int> index_;
  std::map<int64_t, Slot*> slots_;  // that are offered
  std::set<int> known_changes_;
};

}  // namespace dynbench::scheduler

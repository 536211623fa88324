// The waiting experiments of one job that the same slots can run, and which of them a slot gets
// next. Private to the scheduler.
//
// Under `dynamic` experiments wait in groups, one a model, so that performance and accuracy of one
// model go to one worker where nothing is lost by it. A group has a home: the worker on which the
// model was begun, else the one that measured its series before, else none. The longest group comes
// first (longest processing time first, Graham 1969), one that was never measured as if it were one
// of the longest; a worker prefers its own groups, then those
// without a home, as long as the longest can still begin after them and end by the balanced end
// (what waits, divided by the slots). Near the end, or for one giant, length alone decides,
// whatever the home: a slot is never idle for the sake of affinity.
//
// Units (rounds of a pair) are chosen whole and one at a time, whatever the policy, those of the
// lowest rank first, of these the longest; one that is pinned to a slot is left to it as long as
// that slot can take it, unless it failed on that slot's worker.
//
// Under `balanced` and `static`: a partition as a whole, partitions in their order, experiments in
// plan order. What came back from a worker is left out there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/words.h"

namespace dynbench::scheduler {

// As a slot's index: all of the worker's.
inline constexpr int kEverySlot = -1;

struct WaitingTask {
  int64_t queue_order = 0;
  ExperimentId id;
  double expected_s = 0;
  WorkerId avoid;                   // where it came back from last
  WorkerId home;                    // that measured its series before
  double place_s = 0;               // what it is ordered by; 0: expected_s
  double spread_s = 0;              // its 90 % quantile less expected_s
  bool whole = false;               // its group is a unit: leased alone and never split
  SlotId pinned = {};               // of a unit: goes nowhere else while that slot can take it
  std::set<SlotId> failed_on = {};  // where infrastructure failed it: slots, and whole workers
  int rank = 0;                     // of a unit: a lower one goes first

  double placed_s() const { return place_s > 0 ? place_s : expected_s; }
  // Whether it came back from there.
  bool Shuns(const WorkerId& worker) const;
  // Whether infrastructure failed it on that slot, or on its worker as a whole.
  bool FailedOn(const SlotId& slot) const;

  auto operator<=>(const WaitingTask& other) const {
    return std::pair(queue_order, id) <=> std::pair(other.queue_order, other.id);
  }
  bool operator==(const WaitingTask& other) const { return id == other.id; }
};

// An amount of work: its expected time, and the square of how much more nine times in ten it takes.
// Durations are taken as independent, so the squares add up.
struct Work {
  double expected_s = 0;
  double spread_square = 0;

  double p90_s() const { return expected_s + std::sqrt(std::max(0.0, spread_square)); }
  Work& operator+=(const Work& other) {
    expected_s += other.expected_s;
    spread_square += other.spread_square;
    return *this;
  }
  friend Work operator+(Work a, const Work& b) { return a += b; }
};

// For whom and how much.
struct Asking {
  WorkerId worker;
  size_t slots = 1;         // that can run what is in the set
  size_t chunk = 1;         // most experiments at once, under `dynamic`
  double chunk_min_s = 0;   // a lease of less than this is filled up to it
  bool others_can = false;  // leave what avoids this worker
  int slot = 0;             // of the worker
  // Whether another slot can take what waits here; for units that are pinned to it. Empty: no.
  std::function<bool(const SlotId&)> can_take = {};
  size_t fill = 1;  // so many at once however long they take: a lane each
  // Whether a slot that suits a task that came back from somewhere better than the one that asks
  // can take it. Empty: `others_can` and `avoid` decide.
  std::function<bool(const WaitingTask&)> better = {};

  // Whether the task is left to others.
  bool Leaves(const WaitingTask& task) const;
};

class WaitingSet {
 public:
  explicit WaitingSet(plan::PartitionPolicy policy) : policy_(policy) {}

  void Add(const std::string& model, int partition, const WaitingTask& task);
  // `taken_by` empty: it left without being leased.
  void Remove(const std::string& model, int partition, const WaitingTask& task,
              const WorkerId& taken_by);

  // What a slot should get: under `dynamic` at most a chunk, and of that at most half of its share
  // of the time that waits (guided self-scheduling by time), so that leases shrink towards the end;
  // one partition under the others. Nothing is removed.
  std::vector<ExperimentId> Choose(const Asking& asking) const;

  size_t size() const { return size_; }
  double expected_s() const { return work_.expected_s; }
  const Work& work() const { return work_; }
  // Of the longest group; nothing when nothing waits, or under another policy than `dynamic`.
  Work longest() const;
  bool Contains(const std::string& model, int partition, const WaitingTask& task) const;

 private:
  struct Group {
    std::string name;  // model, or partition
    std::set<WaitingTask> tasks;
    double expected_s = 0;
    double spread_square = 0;
    double placed_s = 0;
    WorkerId begun_by;
    const WorkerId& home() const { return begun_by ? begun_by : tasks.begin()->home; }
  };
  // The lowest rank first, then the longest, then as planned.
  struct Place {
    int rank = 0;
    double negative_placed_s = 0;
    int64_t queue_order = 0;
    std::string name;

    auto operator<=>(const Place&) const = default;
  };
  using Order = std::set<Place>;
  class Picker;

  std::string GroupName(const std::string& model, int partition) const;
  Place PlaceOf(const Group& group) const;
  void Insert(const Group& group);
  void Erase(const Group& group);
  const Order& HomeOrder(const WorkerId& home) const;
  std::vector<ExperimentId> ChoosePartition(const Asking& asking) const;
  std::vector<ExperimentId> ChooseGroups(const Asking& asking) const;
  std::vector<ExperimentId> ChooseUnit(const Asking& asking) const;

  const plan::PartitionPolicy policy_;
  bool units_ = false;  // a job has units, or none
  std::map<std::string, Group> groups_;
  Order order_;
  std::map<WorkerId, Order> by_home_;
  size_t size_ = 0;
  Work work_;
};

}  // namespace dynbench::scheduler

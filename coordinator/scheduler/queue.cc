#include "coordinator/scheduler/queue.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "common/base/check.h"

namespace dynbench::scheduler {
namespace {

// A group of nearly the length of the longest is as good as it: what is expected is not known to a
// tenth either.
constexpr double kNearlyAsLong = 0.9;

}  // namespace

bool WaitingTask::Shuns(const WorkerId& worker) const {
  return (avoid && avoid == worker) ||
         std::any_of(failed_on.begin(), failed_on.end(),
                     [&](const SlotId& slot) { return slot.worker == worker; });
}

bool WaitingTask::FailedOn(const SlotId& slot) const {
  return failed_on.count(slot) > 0 || failed_on.count({slot.worker, kEverySlot}) > 0;
}

bool Asking::Leaves(const WaitingTask& task) const {
  if (!task.failed_on.empty() && better) return better(task);
  return others_can && task.avoid == worker;
}

std::string WaitingSet::GroupName(const std::string& model, int partition) const {
  if (policy_ == plan::PartitionPolicy::kDynamic) return model;
  return absl::StrFormat("%010d", partition);  // text order is number order
}

WaitingSet::Place WaitingSet::PlaceOf(const Group& group) const {
  if (policy_ != plan::PartitionPolicy::kDynamic) return {0, 0, 0, group.name};
  const WaitingTask& first = *group.tasks.begin();
  return {first.rank, -group.placed_s, first.queue_order, group.name};
}

void WaitingSet::Insert(const Group& group) {
  if (group.tasks.empty()) return;
  order_.insert(PlaceOf(group));
  by_home_[group.home()].insert(PlaceOf(group));
}

void WaitingSet::Erase(const Group& group) {
  if (group.tasks.empty()) return;
  order_.erase(PlaceOf(group));
  const auto it = by_home_.find(group.home());
  it->second.erase(PlaceOf(group));
  if (it->second.empty()) by_home_.erase(it);
}

void WaitingSet::Add(const std::string& model, int partition, const WaitingTask& task) {
  Group& group = groups_[GroupName(model, partition)];
  Erase(group);
  group.name = GroupName(model, partition);
  CHECK(group.tasks.insert(task).second) << "experiment " << task.id << " waits twice";
  const double spread_square = task.spread_s * task.spread_s;
  group.expected_s += task.expected_s;
  group.spread_square += spread_square;
  group.placed_s += task.placed_s();
  units_ = units_ || task.whole;
  Insert(group);
  ++size_;
  work_ += {task.expected_s, spread_square};
}

void WaitingSet::Remove(const std::string& model, int partition, const WaitingTask& task,
                        const WorkerId& taken_by) {
  const auto it = groups_.find(GroupName(model, partition));
  CHECK(it != groups_.end()) << "experiment " << task.id << " does not wait";
  Group& group = it->second;
  Erase(group);
  CHECK_EQ(group.tasks.erase(task), size_t{1}) << "experiment " << task.id << " does not wait";
  group.expected_s = group.tasks.empty() ? 0 : group.expected_s - task.expected_s;
  const double spread_square = task.spread_s * task.spread_s;
  group.spread_square = group.tasks.empty() ? 0 : group.spread_square - spread_square;
  group.placed_s = group.tasks.empty() ? 0 : group.placed_s - task.placed_s();
  if (taken_by && policy_ == plan::PartitionPolicy::kDynamic) group.begun_by = taken_by;
  Insert(group);
  if (group.tasks.empty()) groups_.erase(it);
  // Rounding must not leave a rest when nothing waits.
  work_ += {-task.expected_s, -spread_square};
  if (--size_ == 0) work_ = Work();
}

bool WaitingSet::Contains(const std::string& model, int partition, const WaitingTask& task) const {
  const auto it = groups_.find(GroupName(model, partition));
  return it != groups_.end() && it->second.tasks.count(task) > 0;
}

Work WaitingSet::longest() const {
  if (order_.empty()) return {};
  const Group& group = groups_.at(order_.begin()->name);
  return {group.expected_s, group.spread_square};
}

const WaitingSet::Order& WaitingSet::HomeOrder(const WorkerId& home) const {
  static const Order* const none = new Order();
  const auto it = by_home_.find(home);
  return it == by_home_.end() ? *none : it->second;
}

std::vector<ExperimentId> WaitingSet::ChoosePartition(const Asking& asking) const {
  for (const Place& place : order_) {
    const Group& group = groups_.at(place.name);
    std::vector<ExperimentId> chosen;
    for (const WaitingTask& task : group.tasks) {
      if (!asking.Leaves(task)) chosen.push_back(task.id);
    }
    if (!chosen.empty()) return chosen;
  }
  return {};
}

// Walks the groups in the order in which one worker wants them: three ordered lists (its own, those
// without a home, all) of which the best head comes next.
class WaitingSet::Picker {
 public:
  Picker(const WaitingSet& set, const Asking& asking)
      : set_(set),
        own_(&set.HomeOrder(asking.worker)),
        free_(&set.HomeOrder(WorkerId())),
        all_(&set.order_),
        balanced_s_(set.expected_s() / static_cast<double>(asking.slots > 0 ? asking.slots : 1)) {}

  // nullptr: that was all.
  const Group* Next() {
    const Place* longest = all_.Head(taken_);
    if (longest == nullptr) return nullptr;
    const Place* best = longest;
    for (Cursor* cursor : {&own_, &free_}) {
      const Place* preferred = cursor->Head(taken_);
      if (preferred == nullptr || (preferred != longest && !Harmless(*preferred, *longest))) {
        continue;
      }
      best = preferred;
      break;
    }
    taken_.insert(best->name);
    return &set_.groups_.at(best->name);
  }

 private:
  struct Cursor {
    explicit Cursor(const Order* list) : order(list), at(list->begin()) {}
    const Place* Head(const std::set<std::string>& taken) {
      while (at != order->end() && taken.count(at->name) > 0) ++at;
      return at == order->end() ? nullptr : &*at;
    }
    const Order* order;
    Order::const_iterator at;
  };

  // Whether nothing is lost when `longest` has to wait for `preferred`.
  bool Harmless(const Place& preferred, const Place& longest) const {
    const double wait_s = -preferred.negative_placed_s;
    const double longest_s = -longest.negative_placed_s;
    return wait_s >= kNearlyAsLong * longest_s || wait_s + longest_s <= balanced_s_;
  }

  const WaitingSet& set_;
  Cursor own_, free_, all_;
  const double balanced_s_;
  std::set<std::string> taken_;
};

std::vector<ExperimentId> WaitingSet::ChooseGroups(const Asking& asking) const {
  const double share_s = expected_s() / static_cast<double>(std::max<size_t>(asking.slots, 1));
  const double budget_s = std::max(share_s / 2, asking.chunk_min_s);
  std::vector<ExperimentId> chosen;
  double chosen_s = 0;
  Picker picker(*this, asking);
  while (const Group* group = picker.Next()) {
    // A model is split only where it is more than a slot's share, or than even a whole chunk.
    const bool whole = group->tasks.size() <= asking.chunk && group->placed_s <= share_s;
    const bool first = chosen.empty();
    if (!first && (chosen.size() + group->tasks.size() > asking.chunk ||
                   (chosen.size() >= asking.fill && chosen_s + group->placed_s > budget_s))) {
      break;
    }
    for (const WaitingTask& task : group->tasks) {
      if (asking.Leaves(task)) continue;
      if (chosen.size() >= asking.chunk) return chosen;
      if (!whole && chosen.size() >= std::max<size_t>(asking.fill, 1) &&
          chosen_s + task.placed_s() > budget_s) {
        return chosen;
      }
      chosen.push_back(task.id);
      chosen_s += task.placed_s();
    }
  }
  return chosen;
}

std::vector<ExperimentId> WaitingSet::ChooseUnit(const Asking& asking) const {
  const SlotId here{asking.worker, asking.slot};
  const auto may = [&](const Group& group) {
    const bool failed_there =
        std::any_of(group.tasks.begin(), group.tasks.end(),
                    [](const WaitingTask& task) { return task.Shuns(task.pinned.worker); });
    for (const WaitingTask& task : group.tasks) {
      if (asking.Leaves(task)) return false;
      if (!task.pinned.worker || task.pinned == here || failed_there) continue;
      if (asking.can_take && asking.can_take(task.pinned)) return false;
    }
    return true;
  };
  const Group* best = nullptr;
  for (const Place& place : order_) {
    const Group& group = groups_.at(place.name);
    if (!may(group)) continue;
    // Its own first: the host should not change from night to night. Any rather than none.
    const WorkerId& home = group.home();
    if (best == nullptr) best = &group;
    if (group.tasks.begin()->rank > best->tasks.begin()->rank) break;
    if (home && home != asking.worker) continue;
    best = &group;
    break;
  }
  std::vector<ExperimentId> chosen;
  if (best == nullptr) return chosen;
  for (const WaitingTask& task : best->tasks) chosen.push_back(task.id);
  return chosen;
}

std::vector<ExperimentId> WaitingSet::Choose(const Asking& asking) const {
  if (units_) return ChooseUnit(asking);
  return policy_ == plan::PartitionPolicy::kDynamic ? ChooseGroups(asking)
                                                    : ChoosePartition(asking);
}

}  // namespace dynbench::scheduler

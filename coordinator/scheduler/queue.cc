#include "coordinator/scheduler/queue.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/check.h"

namespace dynbench::scheduler {

std::string WaitingSet::GroupName(const std::string& model, int partition) const {
  if (policy_ == plan::PartitionPolicy::kDynamic) return model;
  return absl::StrFormat("%010d", partition);  // text order is number order
}

WaitingSet::Place WaitingSet::PlaceOf(const Group& group) const {
  if (policy_ != plan::PartitionPolicy::kDynamic) return {false, 0, 0, group.name};
  return {static_cast<bool>(group.begun_by), -group.expected_s, group.tasks.begin()->queue_order,
          group.name};
}

void WaitingSet::Insert(const Group& group) {
  if (group.tasks.empty()) return;
  order_.insert(PlaceOf(group));
  if (group.begun_by) begun_by_[group.begun_by].insert(group.name);
}

void WaitingSet::Erase(const Group& group) {
  if (group.tasks.empty()) return;
  order_.erase(PlaceOf(group));
  const auto it = begun_by_.find(group.begun_by);
  if (it == begun_by_.end()) return;
  it->second.erase(group.name);
  if (it->second.empty()) begun_by_.erase(it);
}

void WaitingSet::Add(const std::string& model, int partition, const WaitingTask& task) {
  Group& group = groups_[GroupName(model, partition)];
  Erase(group);
  group.name = GroupName(model, partition);
  CHECK(group.tasks.insert(task).second) << "experiment " << task.id << " waits twice";
  group.expected_s += task.expected_s;
  Insert(group);
  ++size_;
  expected_s_ += task.expected_s;
}

void WaitingSet::Remove(const std::string& model, int partition, const WaitingTask& task,
                        const WorkerId& taken_by) {
  const auto it = groups_.find(GroupName(model, partition));
  CHECK(it != groups_.end()) << "experiment " << task.id << " does not wait";
  Group& group = it->second;
  Erase(group);
  CHECK_EQ(group.tasks.erase(task), size_t{1}) << "experiment " << task.id << " does not wait";
  group.expected_s = group.tasks.empty() ? 0 : group.expected_s - task.expected_s;
  if (taken_by && policy_ == plan::PartitionPolicy::kDynamic) group.begun_by = taken_by;
  Insert(group);
  if (group.tasks.empty()) groups_.erase(it);
  // Rounding must not leave a rest when nothing waits.
  expected_s_ = --size_ == 0 ? 0 : expected_s_ - task.expected_s;
}

bool WaitingSet::Contains(const std::string& model, int partition, const WaitingTask& task) const {
  const auto it = groups_.find(GroupName(model, partition));
  return it != groups_.end() && it->second.tasks.count(task) > 0;
}

bool WaitingSet::AppendGroup(const Group& group, const WorkerId& worker, size_t chunk,
                             bool others_can, std::vector<ExperimentId>* chosen) const {
  // A model is split only when even a whole chunk is smaller than it.
  if (!chosen->empty() && chosen->size() + group.tasks.size() > chunk) return false;
  for (const WaitingTask& task : group.tasks) {
    if (chosen->size() >= chunk) return false;
    if (others_can && task.avoid == worker) continue;
    chosen->push_back(task.id);
  }
  return chosen->size() < chunk;
}

std::vector<ExperimentId> WaitingSet::ChoosePartition(const WorkerId& worker,
                                                      bool others_can) const {
  for (const Place& place : order_) {
    const Group& group = groups_.at(place.name);
    const bool avoided = std::any_of(group.tasks.begin(), group.tasks.end(),
                                     [&](const WaitingTask& t) { return t.avoid == worker; });
    if (others_can && avoided) continue;
    std::vector<ExperimentId> chosen;
    for (const WaitingTask& task : group.tasks) chosen.push_back(task.id);
    return chosen;
  }
  return {};
}

std::vector<ExperimentId> WaitingSet::Choose(const WorkerId& worker, size_t chunk,
                                             bool others_can) const {
  if (policy_ != plan::PartitionPolicy::kDynamic) return ChoosePartition(worker, others_can);
  std::vector<ExperimentId> chosen;
  if (const auto own = begun_by_.find(worker); own != begun_by_.end()) {
    for (const std::string& name : own->second) {
      if (!AppendGroup(groups_.at(name), worker, chunk, others_can, &chosen)) return chosen;
    }
  }
  for (const Place& place : order_) {
    const Group& group = groups_.at(place.name);
    if (group.begun_by == worker) continue;  // above
    // Another worker will continue it, unless there is nothing else to do here.
    if (group.begun_by && !chosen.empty()) break;
    if (!AppendGroup(group, worker, chunk, others_can, &chosen)) break;
  }
  return chosen;
}

}  // namespace dynbench::scheduler

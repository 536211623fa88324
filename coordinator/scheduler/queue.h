// The waiting experiments of one job that the same slots can run, and which of them a slot gets
// next. Private to the scheduler.
//
// Under `dynamic`: by model, so that performance and accuracy of one model go to one worker where
// nothing is lost by it; the model with the longest expected time first; a model that was begun on
// a worker is continued there first and elsewhere last. Under `balanced` and `static`: a partition
// as a whole, partitions in their order, experiments in plan order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/words.h"

namespace dynbench::scheduler {

struct WaitingTask {
  int64_t queue_order = 0;
  ExperimentId id;
  double expected_s = 0;
  WorkerId avoid;  // not there while another worker could take it

  auto operator<=>(const WaitingTask& other) const {
    return std::pair(queue_order, id) <=> std::pair(other.queue_order, other.id);
  }
  bool operator==(const WaitingTask& other) const { return id == other.id; }
};

class WaitingSet {
 public:
  explicit WaitingSet(plan::PartitionPolicy policy) : policy_(policy) {}

  void Add(const std::string& model, int partition, const WaitingTask& task);
  // `taken_by` empty: it left without being leased.
  void Remove(const std::string& model, int partition, const WaitingTask& task,
              const WorkerId& taken_by);

  // What a slot of `worker` should get: at most `chunk` under `dynamic`, one partition under the
  // others. Nothing is removed. `others_can`: leave what avoids this worker.
  std::vector<ExperimentId> Choose(const WorkerId& worker, size_t chunk, bool others_can) const;

  size_t size() const { return size_; }
  double expected_s() const { return expected_s_; }
  bool Contains(const std::string& model, int partition, const WaitingTask& task) const;

 private:
  struct Group {
    std::string name;  // model, or partition
    std::set<WaitingTask> tasks;
    double expected_s = 0;
    WorkerId begun_by;
  };
  // Begun elsewhere last; then the longest; then as planned.
  struct Place {
    bool begun = false;
    double negative_expected_s = 0;
    int64_t queue_order = 0;
    std::string name;

    auto operator<=>(const Place&) const = default;
  };

  std::string GroupName(const std::string& model, int partition) const;
  Place PlaceOf(const Group& group) const;
  void Insert(const Group& group);
  void Erase(const Group& group);
  std::vector<ExperimentId> ChoosePartition(const WorkerId& worker, bool others_can) const;
  // Appends what fits of `group`. False: the chunk is full.
  bool AppendGroup(const Group& group, const WorkerId& worker, size_t chunk, bool others_can,
                   std::vector<ExperimentId>* chosen) const;

  const plan::PartitionPolicy policy_;
  std::map<std::string, Group> groups_;
  std::set<Place> order_;
  std::map<WorkerId, std::set<std::string>> begun_by_;
  size_t size_ = 0;
  double expected_s_ = 0;
};

}  // namespace dynbench::scheduler

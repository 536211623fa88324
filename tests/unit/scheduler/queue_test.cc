// Method: small waiting sets; what a slot would be given next.
#include "coordinator/scheduler/queue.h"

#include "gtest/gtest.h"

namespace dynbench::scheduler {
namespace {

using Ids = std::vector<int64_t>;

class QueueTest : public testing::Test {
 protected:
  void Add(WaitingSet* set, int64_t id, const std::string& model, double expected_s,
           int partition = 0, const std::string& avoid = "") {
    tasks_[id] = {id, ExperimentId(id), expected_s, WorkerId(avoid)};
    where_[id] = {model, partition};
    set->Add(model, partition, tasks_[id]);
  }
  void Take(WaitingSet* set, int64_t id, const std::string& worker) {
    set->Remove(where_[id].first, where_[id].second, tasks_[id], WorkerId(worker));
  }
  static Ids Choose(const WaitingSet& set, const std::string& worker, size_t chunk,
                    bool others_can = true) {
    Ids ids;
    for (const ExperimentId id : set.Choose(WorkerId(worker), chunk, others_can)) {
      ids.push_back(id.value);
    }
    return ids;
  }

  std::map<int64_t, WaitingTask> tasks_;
  std::map<int64_t, std::pair<std::string, int>> where_;
};

TEST_F(QueueTest, TheLongestModelComesFirstAndAsAWhole) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "short", 5);
  Add(&set, 2, "long", 10);
  Add(&set, 3, "short", 5);
  Add(&set, 4, "long", 10);
  EXPECT_EQ(Choose(set, "w", 2), (Ids{2, 4}));
  EXPECT_EQ(Choose(set, "w", 3), (Ids{2, 4}));  // a model is not split to fill a chunk
  EXPECT_EQ(Choose(set, "w", 4), (Ids{2, 4, 1, 3}));
  EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));  // but for a chunk that is smaller than any
  EXPECT_EQ(set.expected_s(), 30);
}

TEST_F(QueueTest, AModelIsContinuedWhereItWasBegunUnlessNothingElseIsLeft) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "a", 10);
  Add(&set, 2, "a", 10);
  Add(&set, 3, "b", 2);
  Take(&set, 1, "w");
  EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));
  EXPECT_EQ(Choose(set, "v", 1), (Ids{3}));
  EXPECT_EQ(Choose(set, "v", 3), (Ids{3}));
  Take(&set, 3, "v");
  EXPECT_EQ(Choose(set, "v", 1), (Ids{2}));
}

TEST_F(QueueTest, ARequeuedTaskIsBackAtItsOriginalPlace) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  for (int64_t id = 1; id <= 3; ++id) Add(&set, id, std::string(1, static_cast<char>(96 + id)), 4);
  Take(&set, 1, "w");
  EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));
  Add(&set, 1, "a", 4);
  EXPECT_EQ(Choose(set, "w", 1), (Ids{1}));
}

TEST_F(QueueTest, PartitionsAreTakenWholeInNumberAndPlanOrder) {
  WaitingSet set(plan::PartitionPolicy::kStatic);
  Add(&set, 5, "a", 1, 10);
  Add(&set, 4, "b", 99, 2);
  Add(&set, 3, "c", 1, 2);
  EXPECT_EQ(Choose(set, "w", 1), (Ids{3, 4}));
  Take(&set, 3, "w");
  Take(&set, 4, "w");
  EXPECT_EQ(Choose(set, "w", 1), (Ids{5}));
}

TEST_F(QueueTest, WhatFailedOnAWorkerIsLeftToOthersWhileThereAreAny) {
  for (const auto policy : {plan::PartitionPolicy::kDynamic, plan::PartitionPolicy::kBalanced}) {
    WaitingSet set(policy);
    Add(&set, 1, "a", 9, 0, "w");
    Add(&set, 2, "b", 1, 1);
    EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));
    EXPECT_EQ(Choose(set, "v", 1), (Ids{1}));
    EXPECT_EQ(Choose(set, "w", 1, false), (Ids{1}));
    Take(&set, 2, "w");
    EXPECT_EQ(Choose(set, "w", 1), Ids{});
  }
}

}  // namespace
}  // namespace dynbench::scheduler

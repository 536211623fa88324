// Method: small waiting sets; what a slot would be given next.
#include "coordinator/scheduler/queue.h"

#include "gtest/gtest.h"

namespace dynbench::scheduler {
namespace {

using Ids = std::vector<int64_t>;

class QueueTest : public testing::Test {
 protected:
  struct Extra {
    int partition = 0;
    std::string avoid = {};
    std::string home = {};
    double place_s = 0;
  };
  void Add(WaitingSet* set, int64_t id, const std::string& model, double expected_s) {
    Add(set, id, model, expected_s, Extra());
  }
  void Add(WaitingSet* set, int64_t id, const std::string& model, double expected_s,
           const Extra& extra) {
    tasks_[id] = {
        id,           ExperimentId(id), expected_s, WorkerId(extra.avoid), WorkerId(extra.home),
        extra.place_s};
    where_[id] = {model, extra.partition};
    set->Add(model, extra.partition, tasks_[id]);
  }
  void Take(WaitingSet* set, int64_t id, const std::string& worker) {
    set->Remove(where_[id].first, where_[id].second, tasks_[id], WorkerId(worker));
  }
  // A lease is filled up to `fill_s`, so that its size in experiments decides.
  static Ids Choose(const WaitingSet& set, const std::string& worker, size_t chunk,
                    bool others_can = true, double fill_s = 1e9, size_t slots = 1) {
    Asking asking{WorkerId(worker), slots, chunk, fill_s, others_can};
    Ids ids;
    for (const ExperimentId id : set.Choose(asking)) ids.push_back(id.value);
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
  EXPECT_EQ(set.longest().expected_s, 20);
}

TEST_F(QueueTest, ALeaseIsAtMostHalfOfASlotsShareOfTheTimeThatWaits) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "giant", 100);
  for (int64_t id = 2; id <= 21; ++id) Add(&set, id, "m" + std::to_string(id), 10);
  // 300 s on 2 slots: a share is 150 s, half of it 75 s.
  EXPECT_EQ(Choose(set, "w", 8, true, 0, 2), (Ids{1})) << "the giant has nothing behind it";
  Take(&set, 1, "w");
  EXPECT_EQ(Choose(set, "v", 8, true, 0, 2).size(), 5u) << "200 s: 50 s of 10 s each";
  for (int64_t id = 2; id <= 19; ++id) Take(&set, id, "v");
  EXPECT_EQ(Choose(set, "v", 8, true, 0, 2).size(), 1u) << "20 s: one, and one for the other slot";
  EXPECT_EQ(Choose(set, "v", 8, true, 20, 2).size(), 2u) << "unless a lease may be that short";
}

TEST_F(QueueTest, EveryLaneOfASlotGetsOneHoweverLongTheyTake) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  for (int64_t id = 1; id <= 8; ++id) Add(&set, id, "m" + std::to_string(id), 100);
  Asking asking{WorkerId("w"), 2, 8, 0, true};
  EXPECT_EQ(set.Choose(asking).size(), 2u) << "800 s on 2 slots: half of a share is 200 s";
  asking.fill = 4;
  EXPECT_EQ(set.Choose(asking).size(), 4u);
  asking.chunk = 3;
  EXPECT_EQ(set.Choose(asking).size(), 3u) << "never more than a chunk";
}

TEST_F(QueueTest, AModelOfMoreThanASlotsShareIsSplit) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "giant", 50);
  Add(&set, 2, "giant", 50);
  Add(&set, 3, "small", 1);
  EXPECT_EQ(Choose(set, "w", 8, true, 0, 2), (Ids{1})) << "the other half goes to the other slot";
  Take(&set, 1, "w");
  EXPECT_EQ(Choose(set, "v", 8, true, 0, 2), (Ids{2})) << "though it was begun elsewhere";
}

TEST_F(QueueTest, AModelIsContinuedWhereItWasBegunUnlessNothingElseIsLeft) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "a", 10);
  Add(&set, 2, "a", 10);
  Add(&set, 3, "b", 2);
  Take(&set, 1, "w");
  EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));
  EXPECT_EQ(Choose(set, "v", 1), (Ids{3}));
  Take(&set, 3, "v");
  EXPECT_EQ(Choose(set, "v", 1), (Ids{2}));
}

TEST_F(QueueTest, AWorkerPrefersTheSeriesThatItMeasuredBeforeWhileNothingIsLostByIt) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "of_w", 5, {0, "", "w"});
  Add(&set, 2, "of_v", 20, {0, "", "v"});
  Add(&set, 3, "new", 8);
  for (int64_t id = 4; id <= 9; ++id) {
    Add(&set, id, "v" + std::to_string(id), 6, {0, "", "v"});
  }
  // 69 s on 2 slots end after 34.5 s at best; 5 s and then the longest, 20 s, fit into that.
  EXPECT_EQ(Choose(set, "w", 1, true, 0, 2), (Ids{1}));
  EXPECT_EQ(Choose(set, "v", 1, true, 0, 2), (Ids{2}));
  EXPECT_EQ(Choose(set, "x", 1, true, 0, 2), (Ids{3})) << "none of its own: what is nobody's";
  // With 4 slots the balanced end is after 17 s: the longest must begin now, wherever.
  EXPECT_EQ(Choose(set, "w", 1, true, 0, 4), (Ids{2}));
  for (const int64_t id : {1, 3}) Take(&set, id, "w");
  EXPECT_EQ(Choose(set, "w", 1, true, 0, 2), (Ids{2})) << "no slot idles for affinity";
}

TEST_F(QueueTest, WhatMayTakeLongIsPlacedByThatAndLeasedAlone) {
  WaitingSet set(plan::PartitionPolicy::kDynamic);
  Add(&set, 1, "known", 50);
  Add(&set, 2, "fresh", 10, {0, "", "", 100});
  for (int64_t id = 3; id <= 12; ++id) Add(&set, id, "m" + std::to_string(id), 5);
  EXPECT_EQ(Choose(set, "w", 8, true, 0, 2), (Ids{2}));
  EXPECT_EQ(set.expected_s(), 110);
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
  Add(&set, 5, "a", 1, {10});
  Add(&set, 4, "b", 99, {2});
  Add(&set, 3, "c", 1, {2});
  EXPECT_EQ(Choose(set, "w", 1), (Ids{3, 4}));
  Take(&set, 3, "w");
  Take(&set, 4, "w");
  EXPECT_EQ(Choose(set, "w", 1), (Ids{5}));
}

TEST_F(QueueTest, WhatFailedOnAWorkerIsLeftToOthersWhileThereAreAny) {
  for (const auto policy : {plan::PartitionPolicy::kDynamic, plan::PartitionPolicy::kBalanced}) {
    WaitingSet set(policy);
    Add(&set, 1, "a", 9, {0, "w"});
    Add(&set, 2, "b", 1, {1});
    EXPECT_EQ(Choose(set, "w", 1), (Ids{2}));
    EXPECT_EQ(Choose(set, "v", 1), (Ids{1}));
    EXPECT_EQ(Choose(set, "w", 1, false), (Ids{1}));
    Take(&set, 2, "w");
    EXPECT_EQ(Choose(set, "w", 1), Ids{});
  }
}

}  // namespace
}  // namespace dynbench::scheduler

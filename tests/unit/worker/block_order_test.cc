// Method: the pure order of blocks is drawn for many rounds and read back.
#include "worker/agent/block_order.h"

#include <set>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

plan::Experiment Round(int pair, int round, const char* side) {
  plan::Experiment e;
  e.pair = pair;
  e.round = round;
  e.side = side;
  return e;
}

TEST(BlockOrder, EachTwoBlocksAreOneOfEitherSideAndTheDrawIsRepeatable) {
  std::set<std::string> seen;
  int fresh_first = 0;
  for (int round = 1; round <= 40; ++round) {
    BlockOrder order(JobId(3), Round(1, round, "base"), 6);
    EXPECT_EQ(order.ToString(), BlockOrder(JobId(3), Round(1, round, "new"), 6).ToString());
    seen.insert(order.ToString());
    for (int pair = 0; pair < 6; ++pair) {
      const bool first = order.fresh();
      fresh_first += first ? 1 : 0;
      order.Next();
      EXPECT_EQ(order.fresh(), !first);
      order.Next();
    }
    EXPECT_TRUE(order.done());
  }
  EXPECT_GT(seen.size(), 15U);
  EXPECT_GT(fresh_first, 80);
  EXPECT_LT(fresh_first, 160);
  const std::string two = BlockOrder(JobId(3), Round(1, 1, "base"), 2).ToString();
  EXPECT_EQ(two.size(), std::string("base new, new base").size()) << two;
}

TEST(BlockOrder, OnlySamplesOfTwoSidesAreSpreadOverWindows) {
  plan::Experiment e = Round(1, 1, "base");
  EXPECT_EQ(WindowBlocks(e), 6) << "of 30 pairs five each";
  e.repeat = 4;
  EXPECT_EQ(WindowBlocks(e), 1);
  e.repeat = 1'000;
  EXPECT_EQ(WindowBlocks(e), 12);
  const auto changed = [](auto change) {
    plan::Experiment other = Round(1, 1, "base");
    change(other);
    return WindowBlocks(other);
  };
  EXPECT_EQ(changed([](plan::Experiment& x) { x.test = plan::Test::kAccuracy; }), 1);
  EXPECT_EQ(changed([](plan::Experiment& x) { x.pair = 0; }), 1);
  EXPECT_EQ(changed([](plan::Experiment& x) { x.instances = 2; }), 1);
  EXPECT_EQ(changed([](plan::Experiment& x) { x.target_precision = 0.01; }), 1);
  EXPECT_EQ(changed([](plan::Experiment& x) { x.engine = "script"; }), 1);
  EXPECT_TRUE(AreOneRound(Round(1, 2, "base"), Round(1, 2, "new")));
  EXPECT_FALSE(AreOneRound(Round(1, 2, "base"), Round(1, 2, "base")));
  EXPECT_FALSE(AreOneRound(Round(1, 2, "base"), Round(1, 3, "new")));
  EXPECT_FALSE(AreOneRound(Round(0, 0, "base"), Round(0, 0, "new")));
}

}  // namespace
}  // namespace dynbench::worker

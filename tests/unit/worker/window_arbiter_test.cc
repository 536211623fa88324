// Method: the pure arbiter is driven by hand.
#include "worker/agent/window_arbiter.h"

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

AttemptId Id(int64_t experiment) { return {ExperimentId(experiment), LeaseEpoch(1)}; }

TEST(WindowArbiter, OneHolderAtATimeInOrderOfAsking) {
  WindowArbiter arbiter;
  EXPECT_TRUE(arbiter.Request(Id(1)));
  EXPECT_FALSE(arbiter.Request(Id(2)));
  EXPECT_FALSE(arbiter.Request(Id(3)));
  EXPECT_FALSE(arbiter.Request(Id(2)));
  EXPECT_EQ(arbiter.Release(Id(3)), std::nullopt) << "one that died while it waited";
  EXPECT_EQ(arbiter.holder(), Id(1));
  EXPECT_EQ(arbiter.Release(Id(1)), Id(2));
  EXPECT_EQ(arbiter.Release(Id(2)), std::nullopt);
  EXPECT_EQ(arbiter.holder(), std::nullopt);
}

TEST(WindowArbiter, TheHolderMayPassItOnToOneThatHasNotAskedYet) {
  WindowArbiter arbiter;
  EXPECT_TRUE(arbiter.Request(Id(1)));
  EXPECT_FALSE(arbiter.Request(Id(2)));
  EXPECT_FALSE(arbiter.Request(Id(3)));
  arbiter.Pass(Id(9), Id(3));
  EXPECT_EQ(arbiter.holder(), Id(1)) << "only the holder passes it on";
  arbiter.Pass(Id(1), Id(3));
  EXPECT_EQ(arbiter.holder(), Id(3)) << "before the one that waits longer";
  EXPECT_FALSE(arbiter.Request(Id(1)));
  EXPECT_TRUE(arbiter.Request(Id(3)));
  arbiter.Pass(Id(3), Id(4));
  EXPECT_EQ(arbiter.Release(Id(4)), Id(2));
  EXPECT_EQ(arbiter.Release(Id(2)), Id(1)) << "3 does not wait any more";
}

}  // namespace
}  // namespace dynbench::worker

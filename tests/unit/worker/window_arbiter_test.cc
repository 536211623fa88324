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

}  // namespace
}  // namespace dynbench::worker

// Method: the life of a slot told in milliseconds; at each step whether it takes work, why not, and
// when it is looked at again.
#include "worker/agent/slot_health.h"

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(SlotHealthTest, NothingRunsBeforeTheFirstCheckHasPassed) {
  SlotHealth health;
  EXPECT_EQ(health.State(), "preflight");
  EXPECT_TRUE(health.Due(0));
  health.Begin();
  EXPECT_FALSE(health.Due(0));
  EXPECT_EQ(health.State(), "preflight");
  health.Passed();
  EXPECT_EQ(health.State(), "");
  EXPECT_FALSE(health.Due(1'000'000));
}

TEST(SlotHealthTest, AFailedCheckQuarantinesAndIsRepeatedLessAndLessOften) {
  SlotHealth health(1'000);
  int64_t now = 0;
  for (const int64_t wait : {1'000, 2'000, 4'000, 8'000}) {
    health.Begin();
    health.Failed("device", "it does not answer", now);
    EXPECT_EQ(health.State(), "quarantined");
    EXPECT_EQ(health.Reason(), "the check \"device\" fails: it does not answer");
    EXPECT_FALSE(health.Due(now + wait - 1));
    EXPECT_EQ(health.next_ms(), now + wait);
    now += wait;
    EXPECT_TRUE(health.Due(now));
  }
  for (int i = 0; i < 40; ++i) {
    health.Begin();
    health.Failed("device", "it does not answer", now);
  }
  EXPECT_EQ(health.next_ms(), now + SlotHealth::kLastRecheckMs);
  health.Recheck();
  EXPECT_TRUE(health.Due(now));
  EXPECT_EQ(health.State(), "quarantined");  // still: it has not passed
  health.Begin();
  health.Failed("device", "it does not answer", now);
  EXPECT_EQ(health.next_ms(), now + 1'000);
  health.Begin();
  health.Passed();
  EXPECT_TRUE(health.healthy());
}

TEST(SlotHealthTest, OnlyFailuresInARowAreTrouble) {
  SlotHealth health;
  health.Begin();
  health.Passed();
  for (int i = 0; i < 10; ++i) {
    for (int k = 1; k < SlotHealth::kTroubles; ++k) health.Trouble();
    EXPECT_FALSE(health.Due(0));
    health.Worked();
  }
  for (int k = 0; k < SlotHealth::kTroubles; ++k) health.Trouble();
  EXPECT_TRUE(health.Due(0));
  EXPECT_EQ(health.State(), "preflight");
}

TEST(SlotHealthTest, ADeviceErrorIsLookedAtAtOnce) {
  SlotHealth health;
  health.Begin();
  health.Passed();
  health.DeviceError();
  EXPECT_TRUE(health.Due(0));
  EXPECT_FALSE(health.first());
}

TEST(SlotHealthTest, AskedWhileTheChecksRunTheyRunAgain) {
  SlotHealth health;
  health.Begin();
  health.Recheck();
  EXPECT_FALSE(health.Due(0));
  health.Passed();
  EXPECT_TRUE(health.Due(0));
}

}  // namespace
}  // namespace dynbench::worker

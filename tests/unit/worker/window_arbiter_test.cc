// Method: the pure arbiter, the live log and the reconnect delays are driven by hand.
#include "worker/agent/window_arbiter.h"

#include "gtest/gtest.h"
#include "worker/agent/live_log.h"
#include "worker/agent/session_client.h"
#include "worker/agent/slot_plan.h"

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

TEST(LiveLog, AFloodKeepsTheEndAndOffsetsStayTrue) {
  LiveLog log(100);
  log.Append("0123456789");
  EXPECT_EQ(log.Read(4, 3).bytes, "456");
  EXPECT_EQ(log.Read(10, 3).bytes, "");
  for (int i = 0; i < 100; ++i) log.Append("0123456789");
  const auto piece = log.Read(0, 1'000);
  EXPECT_GT(piece.offset, 0);
  EXPECT_LE(piece.bytes.size(), 200u);
  EXPECT_EQ(piece.bytes[0], static_cast<char>('0' + piece.offset % 10));
  EXPECT_EQ(piece.offset + static_cast<int64_t>(piece.bytes.size()), 1'010);
}

TEST(ReconnectDelay, GrowsIsCappedAndSpread) {
  EXPECT_LE(ReconnectDelayMs(0, 1), 100);
  for (int failures = 0; failures < 1'000; ++failures) {
    EXPECT_GE(ReconnectDelayMs(failures, 0), 50);
    EXPECT_LE(ReconnectDelayMs(failures, 1), 1'000);
    EXPECT_LT(ReconnectDelayMs(failures, 0), ReconnectDelayMs(failures, 1));
  }
}

TEST(SlotPlan, OneCpuSlotOrOneForEachGpu) {
  Inventory inventory;
  inventory.cpu_model = "EPYC";
  const std::vector<int> cores = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto cpu = PlanSlots(inventory, cores, {}, 0);
  ASSERT_EQ(cpu.size(), 1u);
  EXPECT_EQ(cpu[0].device, "cpu");
  EXPECT_EQ(cpu[0].cores, cores);
  EXPECT_EQ(cpu[0].lanes, 1);
  const auto gpu = PlanSlots(inventory, cores, {{0, "u0", "H", "", 1}, {1, "u1", "H", "", 1}}, 0);
  ASSERT_EQ(gpu.size(), 2u);
  EXPECT_EQ(gpu[1].device_uuid, "u1");
  EXPECT_EQ(gpu[0].cores, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(gpu[1].cores, (std::vector<int>{4, 5, 6, 7}));
}

}  // namespace
}  // namespace dynbench::worker

// Method: hosts described as the inventory describes them.
#include "worker/agent/slot_plan.h"

#include <numeric>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

std::vector<int> Cores(int count) {
  std::vector<int> cores(count);
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

std::vector<Gpu> Gpus(int count) {
  std::vector<Gpu> gpus(count);
  for (int i = 0; i < count; ++i) {
    gpus[i].index = i;
    gpus[i].uuid = "GPU-" + std::to_string(i);
  }
  return gpus;
}

TEST(SlotPlan, AHostWithoutGpusIsOneSlotWithOneLane) {
  Inventory inventory;
  inventory.cpu_model = "a CPU";
  inventory.memory_limit_bytes = 5;
  const auto slots = PlanSlots(inventory, {2, 3, 9}, {}, 0);
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots[0].device, "cpu");
  EXPECT_EQ(slots[0].device_name, "a CPU");
  EXPECT_EQ(slots[0].cores, (std::vector<int>{2, 3, 9}));
  EXPECT_EQ(slots[0].memory_bytes, 5);
  EXPECT_EQ(slots[0].lanes, 1);
  EXPECT_EQ(PlanSlots(inventory, {2, 3, 9}, {}, 3)[0].lanes, 3);
}

TEST(SlotPlan, EveryGpuHasItsShareOfTheCoresAndEveryCoreOneOwner) {
  for (const int cores : {7, 16, 64}) {
    for (const int gpus : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(cores) + " cores, " + std::to_string(gpus) + " GPUs");
      const auto slots = PlanSlots(Inventory(), Cores(cores), Gpus(gpus), 0);
      ASSERT_EQ(slots.size(), static_cast<size_t>(gpus));
      std::vector<int> given;
      for (const SlotShape& slot : slots) {
        EXPECT_EQ(slot.device, "cuda");
        EXPECT_EQ(slot.device_uuid, "GPU-" + std::to_string(slot.device_index));
        EXPECT_GE(static_cast<int>(slot.cores.size()), cores / gpus);
        EXPECT_LE(static_cast<int>(slot.cores.size()), cores / gpus + 1);
        given.insert(given.end(), slot.cores.begin(), slot.cores.end());
      }
      EXPECT_EQ(given, Cores(cores));
    }
  }
}

TEST(SlotPlan, LanesOfAGpuFollowItsCores) {
  for (const auto& [cores, lanes] :
       std::vector<std::pair<int, int>>{{1, 1}, {4, 2}, {8, 6}, {16, 14}, {32, 16}, {100, 16}}) {
    EXPECT_EQ(PlanSlots(Inventory(), Cores(cores), Gpus(1), 0)[0].lanes, lanes) << cores;
  }
  EXPECT_EQ(PlanSlots(Inventory(), Cores(4), Gpus(1), 5)[0].lanes, 5) << "as asked for";
  EXPECT_EQ(PlanSlots(Inventory(), Cores(16), Gpus(1), 0)[0].lane_cores.size(), 14u);
  EXPECT_TRUE(PlanSlots(Inventory(), Cores(16), {}, 4)[0].lane_cores.empty())
      << "on a CPU every lane measures on all cores";
}

}  // namespace
}  // namespace dynbench::worker

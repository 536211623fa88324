// Method: a worker's slot with each thing that may hold it, alone and together; the word and the
// reason that a user reads.
#include "coordinator/session/holds.h"

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

const WorkerId kWorker("w");

v1::Slot SlotOf(int index) {
  v1::Slot slot;
  slot.set_index(index);
  slot.set_accepting(true);
  return slot;
}

TEST(HoldsTest, ADrainHoldsEverySlotAQuarantineOne) {
  Holds holds;
  EXPECT_EQ(holds.Of(kWorker, SlotOf(0)).state, "");
  holds.Load({{}, {{{kWorker, 1}, "falls off", kByOperator, {}}}});
  EXPECT_EQ(holds.Of(kWorker, SlotOf(0)).state, "");
  EXPECT_EQ(holds.Of(kWorker, SlotOf(1)).state, "quarantined");
  EXPECT_EQ(holds.Of(kWorker, SlotOf(1)).reason, "falls off");
  EXPECT_EQ(holds.QuarantinedSlots(kWorker), (std::vector<SlotId>{{kWorker, 1}}));
  holds.Drain({kWorker, "kernel", {}});
  EXPECT_EQ(holds.Of(kWorker, SlotOf(0)).state, "drained");
  EXPECT_EQ(holds.Of(kWorker, SlotOf(1)).reason, "kernel");
  holds.Release(kWorker);
  EXPECT_EQ(holds.Of(kWorker, SlotOf(0)).state, "");
  holds.Release(SlotId{kWorker, 1});
  EXPECT_EQ(holds.Of(kWorker, SlotOf(1)).state, "");
}

TEST(HoldsTest, ElseTheWorkersOwnWordCounts) {
  const Holds holds;
  v1::Slot slot = SlotOf(0);
  slot.set_accepting(false);
  slot.set_reason("disk low: 1 GiB free");
  EXPECT_EQ(holds.Of(kWorker, slot).state, "disk_low");  // a worker without the word
  slot.set_state("preflight");
  EXPECT_EQ(holds.Of(kWorker, slot).state, "preflight");
  EXPECT_EQ(holds.Of(kWorker, slot).reason, "disk low: 1 GiB free");
}

}  // namespace
}  // namespace dynbench::session

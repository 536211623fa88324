// Method: drains and quarantines are written, replaced and taken back through one connection and
// read through another, as a coordinator does that starts again.
#include "common/store/holds.h"

#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

class HoldsTest : public StoreTest {
 protected:
  HoldRows Loaded() {
    const auto reader = OpenOrDie(Path(), Access::kReadOnly);
    const auto rows = LoadHolds(*reader);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *rows : HoldRows();
  }
  const WorkerId worker_{"w"};
};

TEST_F(HoldsTest, ADrainStaysUntilItIsTakenBack) {
  ASSERT_OK(Write([&] { return PutDrain(*db_, {worker_, "kernel", {5'000}}, {1'000}); }));
  ASSERT_OK(Write([&] { return PutDrain(*db_, {worker_, "new kernel", {6'000}}, {2'000}); }));
  ASSERT_EQ(Loaded().drains.size(), 1u);
  EXPECT_EQ(Loaded().drains.front().reason, "new kernel");
  EXPECT_EQ(Loaded().drains.front().deadline.ms, 6'000);
  ASSERT_OK(Write([&] { return DeleteDrain(*db_, worker_); }));
  ASSERT_OK(Write([&] { return DeleteDrain(*db_, worker_); }));
  EXPECT_TRUE(Loaded().drains.empty());
}

TEST_F(HoldsTest, AQuarantineIsOfOneSlotAndHasAReason) {
  ASSERT_OK(Write([&] {
    return PutQuarantine(*db_, {{worker_, 1}, "falls off", "operator", {7}});
  }));
  ASSERT_OK(Write([&] { return PutQuarantine(*db_, {{worker_, 0}, "alike", "failures", {8}}); }));
  EXPECT_FALSE(Write([&] {
                 return PutQuarantine(*db_, {{worker_, 0}, "", "operator", {8}});
               }).ok());
  EXPECT_FALSE(Write([&] { return PutQuarantine(*db_, {{worker_, 0}, "x", "moon", {8}}); }).ok());
  ASSERT_OK(Write([&] { return DeleteQuarantine(*db_, {worker_, 0}); }));
  const HoldRows rows = Loaded();
  ASSERT_EQ(rows.quarantines.size(), 1u);
  EXPECT_EQ(rows.quarantines.front().slot, (SlotId{worker_, 1}));
  EXPECT_EQ(rows.quarantines.front().source, "operator");
  EXPECT_EQ(rows.quarantines.front().at.ms, 7);
}

TEST_F(HoldsTest, AWorkerThatNeverConnectedHasNone) {
  const auto put = [&] { return PutDrain(*db_, {WorkerId("nobody"), "x", {5'000}}, {1'000}); };
  EXPECT_TRUE(absl::IsFailedPrecondition(Write(put)));
}

}  // namespace
}  // namespace dynbench::store

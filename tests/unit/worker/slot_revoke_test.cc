// Method: slot_fixture.h; the thread that makes folders and copies caches is held where the test
// wants to revoke, so that each of the states between lease and engine is met for certain.
#include <future>

#include "tests/unit/worker/slot_fixture.h"

namespace dynbench::worker {
namespace {

class SlotRevokeTest : public SlotTest {
 protected:
  struct Gate {
    std::promise<void> reached, open;
  };

  // What the preparer is given from now on waits for the gate; what it was given before is done
  // when this returns.
  std::shared_ptr<Gate> HoldPreparer() {
    auto gate = std::make_shared<Gate>();
    preparer_.loop()->Post([gate] {
      gate->reached.set_value();
      gate->open.get_future().wait();
    });
    gate->reached.get_future().wait();
    return gate;
  }

  // Everything that was posted to the slot's loop so far is done.
  void TurnLoop() {
    bool turned = false;
    loop_.Post([&] { turned = true; });
    Until([&] { return turned; });
  }

  void Revoke(int64_t epoch, int64_t id) {
    slot_->Revoke(LeaseEpoch(epoch), {ExperimentId(id)}, "cancelled");
  }

  // Once nothing of it is owed any more.
  bool HasWorkFolder(int64_t epoch, int64_t id) {
    Until([&] { return slot_->Running().count({ExperimentId(id), LeaseEpoch(epoch)}) == 0; });
    std::promise<void> swept;
    janitor_.loop()->Post([&] { swept.set_value(); });
    swept.get_future().wait();
    return fs::exists(dir_ / ("work/" + std::to_string(id) + "." + std::to_string(epoch)));
  }
};

TEST_F(SlotRevokeTest, WhileItsFolderIsMadeTheFolderGoes) {
  Lease(7, {1});
  HoldPreparer()->open.set_value();
  EXPECT_TRUE(fs::exists(dir_ / "work/1.7"));
  Revoke(7, 1);
  EXPECT_FALSE(HasWorkFolder(7, 1));
  EXPECT_TRUE(engine_.order.empty());
}

TEST_F(SlotRevokeTest, WhileTheCacheIsCopiedTheCopyGoes) {
  Lease(7, {1});
  UntilRunning(1);
  WriteText(engine_.running[1].first.cache_dir + "/graph", "compiled");
  engine_.Pass(1);
  EXPECT_FALSE(HasWorkFolder(7, 1));
  Lease(8, {2}, plan::Start::kWarm);
  const auto gate = HoldPreparer();
  TurnLoop();
  Revoke(8, 2);
  gate->open.set_value();
  EXPECT_FALSE(HasWorkFolder(8, 2));
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{1}));
}

TEST_F(SlotRevokeTest, WhenItsCacheWasJustPreparedTheFolderGoes) {
  Lease(7, {1}, plan::Start::kWarm);
  UntilRunning(1);
  WriteText(engine_.running[1].first.cache_dir + "/graph", "compiled");
  const auto gate = HoldPreparer();
  engine_.Pass(1);
  TurnLoop();
  Revoke(7, 1);
  gate->open.set_value();
  EXPECT_FALSE(HasWorkFolder(7, 1));
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{1}));
}

TEST_F(SlotRevokeTest, WhileItIsHeldBackForAnotherOnesWindowTheFolderGoes) {
  Make(2);
  Lease(7, {1});
  UntilRunning(1);
  const auto gate = HoldPreparer();
  Lease(8, {2});
  bool granted = false;
  engine_.running[1].second.window(DeviceUse::kMeasure, [&](int64_t) { granted = true; });
  Until([&] { return granted; });
  gate->open.set_value();
  HoldPreparer()->open.set_value();
  TurnLoop();
  EXPECT_TRUE(fs::exists(dir_ / "work/2.8"));
  Revoke(8, 2);
  engine_.running[1].second.window_done();
  EXPECT_FALSE(HasWorkFolder(8, 2));
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{1}));
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
}

}  // namespace
}  // namespace dynbench::worker

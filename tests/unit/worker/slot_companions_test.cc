// Method: slot_fixture.h; both sides of a round on a slot, of which the test decides who is ready
// when and what becomes of the other.
#include <absl/strings/match.h>

#include "common/base/pair_blocks.h"
#include "common/base/window_flags.h"
#include "tests/unit/worker/slot_fixture.h"

namespace dynbench::worker {
namespace {

class CompanionsTest : public SlotTest {
 protected:
  static constexpr int64_t kBase = 1, kNew = 2, kLater = 3;

  // Base and new of round 1 in one lease, and of round 2 base in another one.
  void LeaseRound(int repeat = 10) {
    v1::Lease lease;
    lease.set_epoch(7);
    for (const int64_t id : {kBase, kNew}) Plan(id, 1, repeat, &lease);
    slot_->Add(lease);
  }
  void LeaseLater() {
    v1::Lease lease;
    lease.set_epoch(8);
    Plan(kLater, 2, 10, &lease);
    slot_->Add(lease);
  }
  void Plan(int64_t id, int round, int repeat, v1::Lease* lease) const {
    plan::Experiment e;
    e.suite = "timm";
    e.model = "resnet50";
    e.environment = "default";
    e.start = plan::Start::kCold;
    e.pair = 1;
    e.round = round;
    e.side = id == kNew ? "new" : "base";
    e.repeat = repeat;
    v1::PlannedExperiment& planned = *lease->add_experiments();
    planned.set_id(id);
    planned.set_job(job_);
    planned.set_json(plan::ToJson(e));
  }

  void Ask(int64_t id) {
    engine_.running.at(id).second.window(DeviceUse::kMeasure, [this, id](int64_t flags) {
      granted_.push_back(id);
      flags_ = flags;
    });
    Turn();
  }
  void Done(int64_t id) {
    engine_.running.at(id).second.window_done();
    Turn();
  }
  // What was posted to the loop is done.
  void Turn() {
    bool turned = false;
    loop_.Post([&] { turned = true; });
    Until([&] { return turned; });
  }
  // Base is ready and stands still, new runs.
  void UntilBaseIsParked() {
    LeaseRound();
    UntilRunning(kBase);
    EXPECT_EQ(engine_.running.count(kNew), 0U) << "one lane";
    Ask(kBase);
    UntilRunning(kNew);
    EXPECT_TRUE(granted_.empty());
    EXPECT_TRUE(engine_.frozen.contains(kBase));
  }
  // Both are ready and one has the first window: that one.
  int64_t UntilTheyAlternate() {
    UntilBaseIsParked();
    Ask(kNew);
    Until([&] { return granted_.size() == 1; });
    return granted_.front();
  }
  static int64_t Other(int64_t id) { return id == kBase ? kNew : kBase; }
  void ExpectToGoOn(int64_t id) {
    Until([&] { return !granted_.empty() && granted_.back() == id; });
    EXPECT_FALSE(engine_.frozen.contains(id));
    Done(id);
    engine_.Pass(id);
    Until([&] { return slot_->idle(); });
    EXPECT_EQ(engine_.frozen, std::set<int64_t>());
  }

  std::vector<int64_t> granted_;
  int64_t flags_ = 0;
};

TEST_F(CompanionsTest, TheSecondLoadsWhileTheFirstStandsStillAndThenTheirBlocksAlternate) {
  UntilBaseIsParked();
  EXPECT_EQ(engine_.running.at(kBase).first.window_blocks, 2);
  EXPECT_EQ(engine_.running.at(kNew).first.window_blocks, 2);
  EXPECT_EQ(engine_.running.at(kBase).first.cores, engine_.running.at(kNew).first.cores);
  LeaseLater();
  Ask(kNew);
  std::vector<int64_t> order;
  for (size_t i = 0; i < 4; ++i) {
    Until([&] { return granted_.size() == i + 1; });
    const int64_t now = granted_.back();
    order.push_back(now);
    EXPECT_TRUE(engine_.frozen.contains(Other(now))) << i;
    EXPECT_FALSE(engine_.frozen.contains(now)) << i;
    engine_.running.at(now).second.window_done();
    if (std::count(order.begin(), order.end(), now) < 2) Ask(now);
    Turn();
  }
  EXPECT_NE(order[0], order[1]) << "each two blocks are one of either side";
  EXPECT_NE(order[2], order[3]);
  EXPECT_TRUE(engine_.frozen.empty());
  EXPECT_EQ(engine_.running.count(kLater), 0U) << "the lane is theirs";
  engine_.Pass(kBase);
  engine_.Pass(kNew);
  UntilRunning(kLater);
  EXPECT_EQ(engine_.running.at(kLater).first.window_blocks, 1) << "nobody is beside it";
  engine_.Pass(kLater);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 3U);
  std::string text;
  for (size_t i = 0; i < 4; ++i) {
    text += i == 0 ? "" : i == 2 ? ", " : " ";
    text += order[i] == kBase ? "base" : "new";
  }
  EXPECT_EQ(finished_[0].result().in_force().at(kBlockOrder), text);
  EXPECT_EQ(finished_[1].result().in_force().at(kBlockOrder), text);
}

TEST_F(CompanionsTest, OneThatIsThroughMayEndWhileTheOtherHasTheLastWindow) {
  for (const bool is_through : {true, false}) {
    const size_t before = finished_.size();
    granted_.clear();
    int64_t now = UntilTheyAlternate();
    const size_t ends_in = is_through ? 4 : 2;  // during this window of the other one
    for (size_t window = 1; window < ends_in; ++window) {
      Ask(Other(now));
      engine_.running.at(now).second.window_done();
      Turn();
      if (window < 3 && granted_.back() == now) Ask(now);
      Until([&] { return granted_.size() == window + 1; });
      now = granted_.back();
    }
    engine_.Pass(Other(now));
    Until([&] { return finished_.size() == before + 1; });
    Done(now);
    engine_.Pass(now);
    Until([&] { return slot_->idle(); });
    ASSERT_EQ(finished_.size(), before + 2);
    for (size_t i = before; i < finished_.size(); ++i) {
      EXPECT_EQ(finished_[i].result().in_force().count(kBlockOrder), is_through ? 1U : 0U)
          << "what is said is what was done";
    }
  }
}

TEST_F(CompanionsTest, ABlockThatBeganBadlyIsTakenAgainBeforeItsTurnIsOver) {
  engine_.freezes = false;
  const int64_t first = UntilTheyAlternate();
  EXPECT_EQ(flags_, kUnfrozenLane);
  engine_.freezes = true;
  Done(first);
  Ask(first);
  Until([&] { return granted_.size() == 2; });
  EXPECT_EQ(granted_[1], first);
  EXPECT_EQ(flags_, 0);
  Done(first);
  Until([&] { return granted_.size() == 3; });
  EXPECT_EQ(granted_[2], Other(first));
  for (const int64_t id : {kBase, kNew}) engine_.Pass(id);
  Until([&] { return slot_->idle(); });
}

TEST_F(CompanionsTest, TheFirstGoesOnWhenTheSecondFailsBeforeItIsReady) {
  UntilBaseIsParked();
  plan::Result failed;
  failed.outcome = plan::Outcome::kFailed;
  failed.status = "fail_to_run";
  engine_.Finish(kNew, failed);
  ExpectToGoOn(kBase);
}

TEST_F(CompanionsTest, TheFirstGoesOnWhenTheSecondIsReturnedAndDoesNotWaitForTheRest) {
  UntilBaseIsParked();
  engine_.running.extract(kNew).mapped().second.returned("the zygote does not start");
  Until([&] { return !granted_.empty(); });
  EXPECT_EQ(returned_.count(kNew), 0U) << "its slot rests first";
  ExpectToGoOn(kBase);
  EXPECT_EQ(returned_.count(kNew), 1U);
}

TEST_F(CompanionsTest, TheFirstGoesOnWhenTheSecondIsEndedAtALimit) {
  UntilBaseIsParked();
  engine_.running.extract(kNew).mapped().second.phase_limit("load took too long", "");
  ExpectToGoOn(kBase);
}

TEST_F(CompanionsTest, TheFirstGoesOnWhenTheSecondIsRevokedWhereverItIs) {
  UntilBaseIsParked();
  slot_->Revoke(LeaseEpoch(7), {ExperimentId(kNew)}, "no longer wanted");
  ExpectToGoOn(kBase);
  EXPECT_EQ(finished_.size(), 1U);
}

TEST_F(CompanionsTest, TheFirstDoesNotWaitForOneThatWasRevokedBeforeItBegan) {
  LeaseRound();
  UntilRunning(kBase);
  slot_->Revoke(LeaseEpoch(7), {ExperimentId(kNew)}, "no longer wanted");
  Ask(kBase);
  ExpectToGoOn(kBase);
}

TEST_F(CompanionsTest, TheFirstDoesNotWaitForOneThatCannotBegin) {
  v1::Lease lease;
  lease.set_epoch(7);
  Plan(kBase, 1, 10, &lease);
  Plan(kNew, 1, 10, &lease);
  plan::Experiment e = *plan::ExperimentFromJson(lease.experiments(1).json());
  e.environment = "gone";
  lease.mutable_experiments(1)->set_json(plan::ToJson(e));
  slot_->Add(lease);
  UntilRunning(kBase);
  Ask(kBase);
  ExpectToGoOn(kBase);
  EXPECT_TRUE(absl::StrContains(returned_.at(kNew), "gone"));
}

TEST_F(CompanionsTest, WhenOneIsGoneInTheMiddleTheOtherTakesTheRestOfItsBlocks) {
  for (const bool holder_dies : {true, false}) {
    granted_.clear();
    const int64_t first = UntilTheyAlternate();
    const int64_t dies = holder_dies ? first : Other(first), lives = Other(dies);
    plan::Result crashed;
    crashed.outcome = plan::Outcome::kFailed;
    crashed.status = "crash";
    engine_.Finish(dies, crashed);
    if (!holder_dies) {
      Turn();
      EXPECT_EQ(granted_.size(), 1U) << "its window is its own to the end";
      Done(lives);
      Ask(lives);
      Until([&] { return granted_.size() == 2; });
    }
    ExpectToGoOn(lives);
    for (const auto& f : finished_) EXPECT_EQ(f.result().in_force().count(kBlockOrder), 0U);
    finished_.clear();
  }
}

TEST_F(CompanionsTest, OneThatEndsBetweenItsBlocksDoesNotKeepTheWindow) {
  const int64_t first = UntilTheyAlternate();
  Done(first);
  Until([&] { return granted_.size() == 2; });
  Done(Other(first));  // neither has asked again
  engine_.Pass(first);
  Turn();
  Ask(Other(first));
  ExpectToGoOn(Other(first));
}

TEST_F(CompanionsTest, WhatDoesNotFitBesideTheOtherRunsAfterItInOneWindow) {
  UntilBaseIsParked();
  plan::Result memory;
  memory.outcome = plan::Outcome::kFailed;
  memory.status = "OOM";
  engine_.Finish(kNew, memory);
  Until([&] { return !granted_.empty(); });
  EXPECT_EQ(granted_.back(), kBase);
  Done(kBase);
  EXPECT_EQ(engine_.running.count(kNew), 0U);
  engine_.Pass(kBase);
  UntilRunning(kNew);
  EXPECT_EQ(engine_.running.at(kNew).first.window_blocks, 1);
  EXPECT_EQ(finished_.size(), 1U) << "nothing was said of the first try";
  granted_.clear();
  Ask(kNew);
  ExpectToGoOn(kNew);
}

TEST_F(CompanionsTest, DrainingGivesBothBackAndNothingStandsStill) {
  UntilBaseIsParked();
  slot_->Drain("maintenance");
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(returned_.size(), 2U);
  EXPECT_TRUE(engine_.frozen.empty());
}

TEST_F(CompanionsTest, OnSeveralLanesTheyPrepareTogetherAndMeetAtTheFirstWindow) {
  Make(3);
  LeaseRound();
  LeaseLater();
  Until([&] { return engine_.running.size() == 3; });
  Ask(kNew);
  EXPECT_TRUE(granted_.empty()) << "base still compiles";
  // Another one's window does not wait for them.
  Ask(kLater);
  Until([&] { return granted_.size() == 1; });
  Ask(kBase);
  EXPECT_EQ(granted_, (std::vector<int64_t>{kLater}));
  Done(kLater);
  Until([&] { return granted_.size() == 2; });
  const int64_t first = granted_.back();
  EXPECT_TRUE(engine_.frozen.contains(kLater));
  EXPECT_TRUE(engine_.frozen.contains(Other(first)));
  // Who asks meanwhile comes after both.
  Done(first);
  Ask(kLater);
  Until([&] { return granted_.size() == 3; });
  EXPECT_EQ(granted_.back(), Other(first));
  for (const int64_t id : {kBase, kNew}) engine_.Pass(id);
  Until([&] { return granted_.size() == 4; });
  EXPECT_EQ(granted_.back(), kLater);
  engine_.Pass(kLater);
  Until([&] { return slot_->idle(); });
}

}  // namespace
}  // namespace dynbench::worker

// Method: scripted fleets on which devices fail (a lost device, a hung one); where what ran there
// goes and how it ends. The rig checks the invariants, "no slot idles beside what it can run"
// included.
#include <set>

#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

using testing::HasSubstr;
using testing::Not;
using Ids = std::vector<int64_t>;

// The device fails under everything that `grant` gave.
void FailDevice(Rig* rig, const Grant& grant, const std::string& status = "device_lost") {
  for (const ExperimentId id : grant.experiments) {
    rig->Do(Returned{{id, grant.epoch}, status + ": gone", true, status, false, status});
  }
}

Task One(int64_t id = 1) { return MakeTask(id, "m" + std::to_string(id)); }

TEST(DeviceFailures, AreTriedOnOtherSlotsAtMostTwiceAndKeepTheirStatus) {
  Rig rig;
  for (const char* worker : {"a", "b", "c", "d"}) rig.Join(worker);
  rig.Submit(1, {One()});
  std::set<SlotId> slots;
  for (int failure = 1; failure <= 3; ++failure) {
    EXPECT_TRUE(slots.insert(rig.last_grant.slot).second) << "it failed there before";
    FailDevice(&rig, rig.last_grant, failure == 3 ? "gpu_hang" : "device_lost");
    if (failure == 3) break;
    ASSERT_EQ(rig.All<Requeue>().size(), 1u);
    EXPECT_EQ(rig.All<Requeue>()[0].cause, "infrastructure");
    EXPECT_THAT(rig.All<Requeue>()[0].reason, HasSubstr("device_lost: gone"));
    EXPECT_TRUE(rig.All<Grant>().empty()) << "it is held back first";
    EXPECT_THAT(rig.Explain(1), HasSubstr("on slot 0 of worker"));
    rig.PassTime();
    ASSERT_EQ(rig.All<Grant>().size(), 1u);
  }
  const auto conclusions = rig.All<Conclude>();
  ASSERT_EQ(conclusions.size(), 1u);
  EXPECT_EQ(conclusions[0].outcome, plan::Outcome::kLost);
  EXPECT_EQ(conclusions[0].status, "gpu_hang");
  EXPECT_EQ(conclusions[0].blame, plan::Blame::kInfrastructure);
  EXPECT_THAT(conclusions[0].reason, HasSubstr("infrastructure failed 3 times, last on slot 0 of"));
}

TEST(DeviceFailures, ARetryKeepsItsPlace) {
  Rig rig;
  rig.Join("a");
  rig.Join("b");
  rig.Submit(1, {One(1)});
  const Grant first = rig.last_grant;
  rig.Submit(2, {One(2)});
  rig.Submit(3, {One(3)});
  FailDevice(&rig, first);
  ASSERT_EQ(rig.Granted("a"), Ids{3});
  rig.PassTime();
  rig.Finish(2, LeaseEpoch(2));
  EXPECT_EQ(rig.Granted("b"), Ids{1});
}

TEST(DeviceFailures, AnotherHostIsPreferredThenAnotherSlot) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One()});
  const SlotId failed = rig.last_grant.slot;
  rig.Join("b");
  FailDevice(&rig, rig.last_grant);
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  FailDevice(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Conclude>().empty()) << "slot 1 of a has not failed it";
  rig.PassTime();
  ASSERT_EQ(rig.Granted("a"), Ids{1});
  EXPECT_NE(rig.last_grant.slot, failed);
}

TEST(DeviceFailures, WaitForAnotherSlotWhileTheOneThatFailedIsFree) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One(1), One(2)});
  const LeaseEpoch other = rig.All<Grant>().at(1).epoch;
  FailDevice(&rig, rig.All<Grant>().at(0));
  rig.PassTime();
  EXPECT_TRUE(rig.All<Grant>().empty()) << "the other slot is busy, and soon free";
  EXPECT_THAT(rig.Explain(1), HasSubstr("another slot is preferred"));
  rig.Finish(2, other);
  ASSERT_EQ(rig.Granted("a"), Ids{1});
  EXPECT_EQ(rig.last_grant.slot.index, 1);
}

TEST(DeviceFailures, GoBackWhereTheyCameFromRatherThanWaitForASlotThatTakesNothing) {
  Rig rig;
  rig.Join("a");
  rig.Submit(1, {One()});
  rig.Join("b");
  const Grant first = rig.last_grant;
  FailDevice(&rig, first);
  rig.Do(WorkerLeft{WorkerId("b")});
  rig.PassTime();
  EXPECT_EQ(rig.Granted("a"), Ids{1}) << "b is away, a has passed its checks";
  FailDevice(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Conclude>().empty());
  rig.PassTime();
  FailDevice(&rig, rig.last_grant);
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].status, "device_lost");
}

TEST(DeviceFailures, AreFinalWhereNoOtherSlotIsKnown) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One()});
  FailDevice(&rig, rig.last_grant);
  rig.PassTime();
  FailDevice(&rig, rig.last_grant);
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].outcome, plan::Outcome::kLost);
  EXPECT_EQ(rig.All<Conclude>()[0].status, "device_lost");
  EXPECT_THAT(rig.All<Conclude>()[0].reason,
              HasSubstr("failed 2 times, and no other slot is known that could run it"));
}

TEST(DeviceFailures, AnOlderWorkersFailureIsRetriedAsBefore) {
  Rig rig;
  rig.Join("a");
  rig.Submit(1, {One()});
  for (int failure = 1; failure <= 3; ++failure) {
    rig.Do(Returned{{ExperimentId(1), rig.last_grant.epoch}, "device_lost: gone", true});
    if (failure < 3) rig.PassTime();
  }
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].status, "lost");
  EXPECT_THAT(rig.All<Conclude>()[0].reason, Not(HasSubstr("no other slot")));
}

TEST(DeviceFailures, OfOneLeaseCountAsOneFailureOfTheSlot) {
  Rig rig;
  rig.Join("bad");
  JobAdded job{JobId(1), plan::PartitionPolicy::kStatic, 0, {One(1), One(2), One(3), One(4)}};
  rig.Do(job);
  ASSERT_EQ(rig.last_grant.experiments.size(), 4u);
  rig.Join("good");
  FailDevice(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Quarantine>().empty()) << "four lanes on one device that was lost once";
}

TEST(DeviceFailures, PartsOfAPartitionThatShunDifferentHostsDoNotBlockEachOther) {
  Rig rig;
  rig.Join("a");
  rig.Submit(1, {One(1), One(2)}, plan::PartitionPolicy::kStatic);
  const Grant first = rig.last_grant;
  ASSERT_EQ(first.experiments.size(), 2u);
  rig.Join("b");
  rig.Do(Returned{{ExperimentId(1), first.epoch}, "no space", true});
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  const LeaseEpoch second = rig.last_grant.epoch;
  rig.Do(Returned{{ExperimentId(2), first.epoch}, "no space", true});
  rig.Do(Returned{{ExperimentId(1), second}, "no space", true});
  std::set<int64_t> on_a, on_b;
  for (int i = 0; i < 2; ++i) {
    rig.PassTime();
    for (const int64_t id : rig.Granted("a")) on_a.insert(id);
    for (const int64_t id : rig.Granted("b")) on_b.insert(id);
  }
  EXPECT_EQ(on_a, std::set<int64_t>{1});
  EXPECT_EQ(on_b, std::set<int64_t>{2});
}

// Rounds of pairs are units, pinned to the slot of their first round.
TEST(DeviceFailures, ARoundLeavesTheSlotThatItIsPinnedTo) {
  for (const bool device : {true, false}) {
    Rig rig;
    std::vector<Task> round = {One(1), One(2)};
    for (Task& task : round) {
      task.unit = "pair 0 round 2";
      task.pinned = {WorkerId("a"), 0};
    }
    rig.Join("a");
    rig.Join("b");
    rig.Submit(1, round);
    ASSERT_EQ(rig.Granted("a"), (Ids{1, 2}));
    rig.Do(Returned{{ExperimentId(2), rig.last_grant.epoch},
                    "trouble",
                    true,
                    "",
                    false,
                    device ? "gpu_hang" : ""});
    rig.PassTime();
    EXPECT_EQ(rig.Granted("b"), (Ids{1, 2})) << "both sides, and not back to a";
    // The other side fails there: neither may wait for the place that the other one shuns.
    rig.Do(Returned{{ExperimentId(1), rig.last_grant.epoch},
                    "trouble",
                    true,
                    "",
                    false,
                    device ? "gpu_hang" : ""});
    if (!device) {
      rig.PassTime();
      EXPECT_EQ(rig.Granted("a"), (Ids{1, 2}));
      continue;
    }
    ASSERT_EQ(rig.All<Conclude>().size(), 2u) << "no third slot";
    EXPECT_EQ(rig.All<Conclude>()[0].status, "skipped");
    EXPECT_EQ(rig.All<Conclude>()[1].status, "gpu_hang");
  }
}

}  // namespace
}  // namespace dynbench::scheduler

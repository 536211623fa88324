// Method: scripted fleets on which devices (lost, hung) and hosts (a full disk, a refused download)
// fail; where what ran there goes and how it ends. The rig checks the invariants, "no slot idles
// beside what it can run" included.
#include <set>

#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

using testing::HasSubstr;
using testing::Not;
using Ids = std::vector<int64_t>;

// Infrastructure fails under everything that `grant` gave.
void Fail(Rig* rig, const Grant& grant, const std::string& status = "device_lost") {
  for (const ExperimentId id : grant.experiments) {
    rig->Do(Returned{{id, grant.epoch}, status + ": gone", true, status, false, status});
  }
}

Task One(int64_t id = 1) { return MakeTask(id, "m" + std::to_string(id)); }

// It is lost, infrastructure is to blame, and the reason says why.
void ExpectLost(const Rig& rig, const char* status, const char* why) {
  const auto conclusions = rig.All<Conclude>();
  ASSERT_EQ(conclusions.size(), 1u);
  EXPECT_EQ(conclusions[0].outcome, plan::Outcome::kLost);
  EXPECT_EQ(conclusions[0].status, status);
  EXPECT_EQ(conclusions[0].blame, plan::Blame::kInfrastructure);
  EXPECT_THAT(conclusions[0].reason, HasSubstr(why));
}

TEST(DeviceFailures, AreTriedOnOtherSlotsAtMostTwiceAndKeepTheirStatus) {
  Rig rig;
  for (const char* worker : {"a", "b", "c", "d"}) rig.Join(worker);
  rig.Submit(1, {One()});
  std::set<SlotId> slots;
  for (int failure = 1; failure <= 3; ++failure) {
    EXPECT_TRUE(slots.insert(rig.last_grant.slot).second) << "it failed there before";
    Fail(&rig, rig.last_grant, failure == 3 ? "gpu_hang" : "device_lost");
    if (failure == 3) break;
    ASSERT_EQ(rig.All<Requeue>().size(), 1u);
    EXPECT_EQ(rig.All<Requeue>()[0].cause, "infrastructure");
    EXPECT_THAT(rig.All<Requeue>()[0].reason, HasSubstr("device_lost: gone"));
    EXPECT_TRUE(rig.All<Grant>().empty()) << "it is held back first";
    EXPECT_THAT(rig.Explain(1), HasSubstr("on slot 0 of worker"));
    rig.PassTime();
    ASSERT_EQ(rig.All<Grant>().size(), 1u);
  }
  ExpectLost(rig, "gpu_hang", "infrastructure failed 3 times, last on slot 0 of");
}

TEST(DeviceFailures, ARetryKeepsItsPlace) {
  Rig rig;
  rig.Join("a");
  rig.Join("b");
  rig.Submit(1, {One(1)});
  const Grant first = rig.last_grant;
  rig.Submit(2, {One(2)});
  rig.Submit(3, {One(3)});
  Fail(&rig, first);
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
  Fail(&rig, rig.last_grant);
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  Fail(&rig, rig.last_grant);
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
  Fail(&rig, rig.All<Grant>().at(0));
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
  Fail(&rig, first);
  rig.Do(WorkerLeft{WorkerId("b")});
  rig.PassTime();
  EXPECT_EQ(rig.Granted("a"), Ids{1}) << "b is away, a has passed its checks";
  Fail(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Conclude>().empty());
  rig.PassTime();
  Fail(&rig, rig.last_grant);
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].status, "device_lost");
}

TEST(DeviceFailures, AreFinalWhereNoOtherSlotIsKnown) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One()});
  Fail(&rig, rig.last_grant);
  rig.PassTime();
  Fail(&rig, rig.last_grant);
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
  Fail(&rig, rig.last_grant);
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

TEST(HostFailures, AreTriedOnOtherWorkersAndKeepTheirStatus) {
  Rig rig;
  for (const char* worker : {"a", "b", "c"}) rig.Join(worker, 2);
  rig.Submit(1, {One()});
  std::set<WorkerId> workers;
  for (int failure = 1; failure <= 3; ++failure) {
    EXPECT_TRUE(workers.insert(rig.last_grant.slot.worker).second) << "it failed on that host";
    Fail(&rig, rig.last_grant, failure == 3 ? "download_failed" : "no_space");
    if (failure == 3) break;
    ASSERT_EQ(rig.All<Requeue>().size(), 1u);
    EXPECT_EQ(rig.All<Requeue>()[0].cause, "infrastructure");
    EXPECT_TRUE(rig.All<Grant>().empty()) << "it is held back first";
    rig.PassTime();
  }
  ExpectLost(rig, "download_failed", "infrastructure failed 3 times, last on worker");
}

TEST(HostFailures, AreTriedAgainOnTheSameWorkerWhereThereIsNoOther) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One()});
  int64_t last_wait_ns = 0;
  for (int failure = 1; failure <= 3; ++failure) {
    ASSERT_EQ(rig.Granted("a"), Ids{1});
    Fail(&rig, rig.last_grant, "no_space");
    if (failure == 3) break;
    EXPECT_TRUE(rig.All<Conclude>().empty()) << "a disk may have room in a while";
    const MonotonicTime failed_at = rig.now;
    rig.PassTime();
    EXPECT_GT(rig.now - failed_at, last_wait_ns);
    last_wait_ns = rig.now - failed_at;
  }
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].status, "no_space");
}

TEST(HostFailures, WaitForAnotherWorkerWhileTheOneThatFailedIsFree) {
  Rig rig;
  rig.Join("a", 2);
  rig.Submit(1, {One(1)});
  rig.Join("b");
  const Grant first = rig.last_grant;
  rig.Do(Quarantined{WorkerId("a"), 1 - first.slot.index, "so that b gets the next"});
  rig.Submit(2, {One(2)});
  ASSERT_EQ(rig.Granted("b"), Ids{2});
  const LeaseEpoch other = rig.last_grant.epoch;
  rig.Do(Released{WorkerId("a"), -1});
  Fail(&rig, first, "download_failed");
  rig.PassTime();
  EXPECT_TRUE(rig.All<Grant>().empty()) << "neither slot of a is better than the other";
  EXPECT_THAT(rig.Explain(1), HasSubstr("another worker is preferred"));
  rig.Finish(2, other);
  EXPECT_EQ(rig.Granted("b"), Ids{1});
}

TEST(HostFailures, GoBackToTheWorkerThatFailedLongestAgo) {
  Rig rig;
  rig.Join("a");
  rig.Submit(1, {One()});
  rig.Join("b");
  Fail(&rig, rig.last_grant, "download_failed");
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  Fail(&rig, rig.last_grant, "download_failed");
  rig.PassTime();
  EXPECT_EQ(rig.Granted("a"), Ids{1});
}

TEST(HostFailures, NeverCountOnTheCrashBudget) {
  Options options;
  Rig rig(options);
  rig.Join("a");
  rig.Submit(1, {One()});
  for (int failure = 1; failure <= options.infrastructure_retries; ++failure) {
    Fail(&rig, rig.last_grant, "no_space");
    rig.PassTime();
  }
  for (int death = 1; death < options.crash_budget; ++death) {
    rig.Do(Started{{ExperimentId(1), rig.last_grant.epoch}});
    rig.Do(WorkerDied{WorkerId("a"), {ExperimentId(1)}});
    EXPECT_TRUE(rig.All<Conclude>().empty());
  }
}

TEST(HostFailures, AFullDiskUnderAllLanesIsOneFailureARefusedDownloadIsOneEach) {
  for (const bool full : {true, false}) {
    Rig rig;
    rig.Join("bad");
    rig.Do(JobAdded{JobId(1), plan::PartitionPolicy::kStatic, 0, {One(1), One(2), One(3)}});
    ASSERT_EQ(rig.last_grant.experiments.size(), 3u);
    rig.Join("good");
    const Grant grant = rig.last_grant;
    size_t stopped = 0;
    for (const ExperimentId id : grant.experiments) {
      const std::string status = full ? "no_space" : "download_failed";
      rig.Do(Returned{{id, grant.epoch}, status, true, status, false, status});
      stopped += rig.All<Quarantine>().size();
    }
    EXPECT_EQ(stopped, full ? 0u : 1u);
  }
}

TEST(InfrastructureFailures, BeforeARestartAreNotForgotten) {
  Rig rig;
  Task task = One();
  task.infrastructure_failures = 1;
  task.failed_on = {{WorkerId("a"), 0}};
  task.avoid = WorkerId("a");
  rig.Submit(1, {task});
  rig.Do(Recovered{});
  rig.Join("a", 2);
  EXPECT_TRUE(rig.All<Grant>().empty()) << "others are given time to come back";
  EXPECT_THAT(rig.Explain(1), HasSubstr("before the coordinator was restarted"));
  rig.Join("b");
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  Fail(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Conclude>().empty());
  rig.PassTime();
  ASSERT_EQ(rig.Granted("a"), Ids{1});
  EXPECT_EQ(rig.last_grant.slot.index, 1);
}

TEST(InfrastructureFailures, BeforeARestartLetNoDeviceCountAsLost) {
  Rig rig;
  Task task = One();
  task.infrastructure_failures = 1;
  task.failed_on = {{WorkerId("a"), 0}};
  task.avoid = WorkerId("a");
  rig.Submit(1, {task});
  rig.Do(Recovered{});
  rig.Join("a");
  rig.Join("b");
  rig.PassTime();
  ASSERT_EQ(rig.Granted("b"), Ids{1});
  Fail(&rig, rig.last_grant);
  EXPECT_TRUE(rig.All<Conclude>().empty()) << "a may only have had a full disk";
  rig.PassTime();
  EXPECT_EQ(rig.Granted("a"), Ids{1});
}

TEST(InfrastructureFailures, OfBothSidesOfARoundBeforeARestartDoNotBlockEachOther) {
  Rig rig;
  std::vector<Task> round = {One(1), One(2)};
  for (Task& task : round) {
    const WorkerId failed(task.id.value == 1 ? "a" : "b");
    task.unit = "pair 0 round 2";
    task.infrastructure_failures = 1;
    task.failed_on = {{failed, 0}};
    task.avoid = failed;
  }
  rig.Submit(1, round);
  rig.Do(Recovered{});
  rig.Join("a");
  rig.Join("b");
  rig.PassTime();
  EXPECT_EQ(rig.Granted("a"), (Ids{1, 2})) << "b failed it last";
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

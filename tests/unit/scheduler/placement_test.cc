// Method: the scheduler with a scripted fleet; who gets a slot among several that want it, where
// something may run, and what becomes of what may run nowhere. Invariants are checked by the rig.
#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int64_t>;

JobAdded JobOf(int64_t job, const std::string& user, int n, double expected_s = 10) {
  JobAdded event{JobId(job), plan::PartitionPolicy::kDynamic, 0, {}};
  event.user = user;
  for (int i = 0; i < n; ++i) {
    const int64_t id = job * 100 + i;
    event.tasks.push_back(MakeTask(id, "m" + std::to_string(id), expected_s));
  }
  return event;
}

// Runs what is granted, one lease after the other on one slot; the jobs in the order they ran.
Ids RunAll(Rig* rig, double seconds) {
  Ids jobs;
  while (!rig->All<Grant>().empty()) {
    const Grant grant = rig->last_grant;
    for (const ExperimentId id : grant.experiments) {
      rig->Do(Started{{id, grant.epoch}});
      rig->Advance(seconds);
      rig->Do(Beat{grant.slot.worker});
      jobs.push_back(id.value / 100);
      rig->Finish(id.value, grant.epoch);
    }
  }
  return jobs;
}

TEST(Placement, SubmittersOfEqualPriorityShareTheSlotsWhoeverCameFirst) {
  Options options;
  options.chunk_limit = 1;
  Rig rig(options);
  rig.Do(JobOf(1, "ann", 8));
  rig.Do(JobOf(2, "bob", 4));
  rig.Join("w");
  EXPECT_EQ(RunAll(&rig, 10), (Ids{1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1, 1}));
}

TEST(Placement, WhatCountsIsTheTimeNotTheNumber) {
  Options options;
  options.chunk_limit = 1;
  Rig rig(options);
  rig.Do(JobOf(1, "ann", 2, 30));
  rig.Do(JobOf(2, "bob", 6, 10));
  rig.Join("w");
  // 30 s of ann's against three times 10 s of bob's.
  Ids order;
  while (!rig.All<Grant>().empty()) {
    const Grant grant = rig.last_grant;
    const int64_t id = grant.experiments[0].value;
    rig.Do(Started{{ExperimentId(id), grant.epoch}});
    rig.Advance(id / 100 == 1 ? 30 : 10);
    rig.Do(Beat{grant.slot.worker});
    order.push_back(id / 100);
    rig.Finish(id, grant.epoch);
  }
  EXPECT_EQ(order, (Ids{1, 2, 2, 2, 1, 2, 2, 2}));
}

TEST(Placement, PriorityIsAboveTheShare) {
  Rig rig;
  rig.Do(JobOf(1, "ann", 1));
  JobAdded urgent = JobOf(2, "ann", 3);
  urgent.priority = 1;
  rig.Do(urgent);
  rig.Do(JobOf(3, "bob", 1));
  rig.Join("w");
  EXPECT_EQ(RunAll(&rig, 10), (Ids{2, 2, 2, 3, 1}));
}

TEST(Placement, ADeadlineInDangerGoesFirstAndOneThatIsNotWaitsItsTurn) {
  for (const bool in_danger : {true, false}) {
    Options options;
    options.chunk_limit = 1;
    Rig rig(options);
    rig.Do(JobOf(1, "ann", 2));
    JobAdded dated = JobOf(2, "ann", 2);
    dated.deadline = rig.now + (in_danger ? 21 : 500) * kNsPerSecond;
    rig.Do(dated);
    EXPECT_EQ(rig.Explain(201).find("is in danger") != std::string::npos, in_danger);
    rig.Join("w");
    EXPECT_EQ(RunAll(&rig, 10), in_danger ? (Ids{2, 2, 1, 1}) : (Ids{1, 1, 2, 2}));
  }
}

WorkerJoined Hello(const std::string& worker, const plan::Labels& labels,
                   const plan::EnvironmentOffer& facts = {}) {
  WorkerJoined event{WorkerId(worker), {MakeSlot(0)}, {}};
  event.slots[0].labels = labels;
  event.slots[0].facts["default"] = facts;
  return event;
}

TEST(Placement, RequirementsChooseTheWorkerAndTheReasonNamesWhatItHas) {
  Rig rig;
  rig.Do(Hello("w", {{"pool", "h200"}}));
  JobAdded job = JobOf(1, "ann", 1);
  job.tasks[0].needs.requirements = {"pool=a100"};
  EXPECT_TRUE(rig.Do(job).empty());
  EXPECT_THAT(rig.Explain(100), HasSubstr("worker w: pool is h200, asked for: pool=a100"));
  EXPECT_THAT(rig.Explain(100), HasSubstr("given up in 10 min 00 s"));
  rig.Do(Hello("v", {{"pool", "a100"}}));
  EXPECT_EQ(rig.Granted("v"), Ids{100});
}

TEST(Placement, WhatNoKnownWorkerCanRunIsLostAfterItsGrace) {
  Rig rig;
  rig.Join("w");
  JobAdded job = JobOf(1, "ann", 2);
  job.tasks[0].needs.requirements = {"pool=a100"};
  job.unplaceable_grace_ns = 30 * kNsPerSecond;
  rig.Do(job);
  EXPECT_EQ(rig.Granted("w"), Ids{101});
  rig.Advance(29);
  EXPECT_TRUE(rig.Do(Tick{}).empty());
  rig.Advance(1);
  rig.Do(Tick{});
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  const Conclude verdict = rig.All<Conclude>()[0];
  EXPECT_EQ(verdict.outcome, plan::Outcome::kLost);
  EXPECT_EQ(verdict.status, "unplaceable");
  EXPECT_THAT(verdict.reason, HasSubstr("worker w it has no pool, asked for: pool=a100"));
}

TEST(Placement, WithoutGraceItFailsAtOnce) {
  Rig rig;
  JobAdded job = JobOf(1, "ann", 1);
  job.unplaceable_grace_ns = 0;
  rig.Do(job);
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_THAT(rig.All<Conclude>()[0].reason, HasSubstr("no worker is known"));
}

TEST(Placement, AKnownWorkerIsWaitedForWithoutEnd) {
  Rig rig;
  rig.Do(WorkerKnown{WorkerId("w"), {MakeSlot(0)}});
  rig.Do(JobOf(1, "ann", 1));
  rig.Advance(1e6);
  EXPECT_TRUE(rig.Do(Tick{}).empty());
  EXPECT_THAT(rig.Explain(100), HasSubstr("worker w: is not connected"));
  EXPECT_THAT(rig.Explain(100), HasSubstr("waits for 277 h 46 min"));
  rig.Join("w");
  EXPECT_EQ(rig.Granted("w"), Ids{100});
}

TEST(Placement, DrainedQuarantinedAndAbsentSlotsAreKnownAndNothingIsGivenUp) {
  for (const std::string held :
       {"drained", "quarantined", "worker quarantined", "away", "environment fails"}) {
    SCOPED_TRACE(held);
    Rig rig;
    rig.Join("w");
    if (held == "drained") {
      SlotOffer slot = MakeSlot(0);
      slot.accepting = false;
      slot.reason = "drained: new driver";
      rig.Do(SlotsChanged{WorkerId("w"), {slot}});
    } else if (held == "quarantined") {
      rig.Do(Quarantined{WorkerId("w"), 0, "fan"});
    } else if (held == "worker quarantined") {
      rig.Do(Quarantined{WorkerId("w"), -1, "fan"});
    } else if (held == "environment fails") {
      SlotOffer slot = MakeSlot(0);
      slot.failing["default"] = "no module named torch";
      rig.Do(SlotsChanged{WorkerId("w"), {slot}});
    } else {
      rig.Do(WorkerLeft{WorkerId("w")});
    }
    JobAdded job = JobOf(1, "ann", 1);
    job.unplaceable_grace_ns = 0;  // not even a job that waits for nobody
    EXPECT_TRUE(rig.Do(job).empty());
    EXPECT_TRUE(rig.scheduler.Unplaceable(job.tasks).empty());
    rig.Advance(1e6);
    EXPECT_TRUE(rig.Do(Tick{}).empty());
    EXPECT_THAT(rig.Explain(100), ::testing::Not(HasSubstr("given up")));
    if (held != "environment fails") continue;
    EXPECT_THAT(rig.Explain(100), HasSubstr("fails its check on slot 0: no module named torch"));
    rig.Do(SlotsChanged{WorkerId("w"), {MakeSlot(0)}});
    EXPECT_EQ(rig.Granted("w"), Ids{100});
  }
}

TEST(Placement, WhatTheBuildCannotDoIsSkippedSoonAndRunsWhereItCan) {
  for (const bool somewhere : {true, false}) {
    Rig rig;
    rig.Do(Hello("w", {}, {{"aot_inductor"}, {"path"}, {}}));
    if (somewhere) rig.Do(Hello("v", {}, {{"nativert"}, {"path"}, {}}));
    JobAdded job = JobOf(1, "ann", 1);
    job.tasks[0].needs.capabilities = {"nativert"};
    rig.Do(job);
    if (somewhere) {
      EXPECT_EQ(rig.Granted("v"), Ids{100});
      continue;
    }
    rig.PassTime();
    ASSERT_EQ(rig.All<Conclude>().size(), 1u);
    EXPECT_EQ(rig.All<Conclude>()[0].outcome, plan::Outcome::kSkipped);
    EXPECT_EQ(rig.All<Conclude>()[0].blame, plan::Blame::kNone);
    EXPECT_THAT(rig.All<Conclude>()[0].reason, HasSubstr("no capability nativert"));
  }
}

TEST(Placement, ASeriesGoesBackToItsWorkerAndABreakIsTold) {
  Rig rig;
  rig.Join("a");
  rig.Join("b");
  JobAdded job = JobOf(1, "ann", 2);
  job.tasks[0].home = WorkerId("b");
  job.tasks[1].home = WorkerId("a");
  rig.Do(job);
  EXPECT_EQ(rig.Granted("a"), Ids{101});
  EXPECT_EQ(rig.Granted("b"), Ids{100});
  for (const Grant& grant : rig.All<Grant>()) EXPECT_TRUE(grant.moved.empty());
  rig.Finish(101, LeaseEpoch(1));
  JobAdded more = JobOf(2, "ann", 1);
  more.tasks[0].home = WorkerId("b");
  rig.Do(more);
  ASSERT_EQ(rig.Granted("a"), Ids{200}) << "no slot idles for affinity";
  EXPECT_EQ(rig.last_grant.moved.at(ExperimentId(200)), WorkerId("b"));
}

TEST(Placement, EqualFailuresStopASlotAndWhatHasNotStartedThereGoesElsewhere) {
  Rig rig;
  rig.Join("bad");
  JobAdded job = JobOf(1, "ann", 6);
  for (Task& task : job.tasks) task.partition = 0;
  job.policy = plan::PartitionPolicy::kStatic;
  rig.Do(job);
  const Grant grant = rig.last_grant;
  ASSERT_EQ(grant.experiments.size(), 6u);
  rig.Join("good");
  for (int i = 0; i < 3; ++i) {
    rig.Do(Returned{{grant.experiments[static_cast<size_t>(i)], grant.epoch},
                    "device 3 lost at " + std::to_string(i),
                    true,
                    "device lost"});
  }
  ASSERT_EQ(rig.All<Quarantine>().size(), 1u);
  EXPECT_EQ(rig.All<Quarantine>()[0].slot, (SlotId{WorkerId("bad"), 0}));
  EXPECT_THAT(rig.All<Quarantine>()[0].reason, HasSubstr("3 equal infrastructure failures"));
  EXPECT_EQ(rig.All<Revoke>().size(), 1u);
  EXPECT_EQ(rig.Granted("bad"), Ids{});
  rig.Do(Released{WorkerId("bad"), 0});
  EXPECT_EQ(rig.All<Quarantine>().size(), 0u);
}

TEST(Placement, TheLastWorkerThatCanIsNotStopped) {
  Rig rig;
  rig.Join("w");
  rig.Do(JobOf(1, "ann", 3));
  size_t reported = 0;
  for (int i = 0; i < 3; ++i) {
    const Grant grant = rig.last_grant;
    rig.Do(Returned{{grant.experiments[0], grant.epoch}, "no network", true});
    EXPECT_TRUE(rig.All<Quarantine>().empty());
    reported += rig.All<ReportCluster>().size();
  }
  EXPECT_EQ(reported, 1u);
}

TEST(Placement, AQuarantinedWorkerGetsNothingUntilItIsReleased) {
  Rig rig;
  rig.Do(Quarantined{WorkerId("w"), -1, "burns"});
  rig.Join("w", 2);
  rig.Do(JobOf(1, "ann", 1));
  EXPECT_TRUE(rig.All<Grant>().empty());
  EXPECT_THAT(rig.Explain(100), HasSubstr("slot 0 is quarantined: burns"));
  rig.Do(Released{WorkerId("w")});
  EXPECT_EQ(rig.Granted("w"), Ids{100});
}

TEST(Placement, TheOrderIsExplained) {
  Rig rig;
  rig.Join("w");
  rig.Do(JobOf(1, "ann", 1));
  rig.Do(JobOf(2, "ann", 1));
  rig.Do(JobOf(3, "bob", 1));
  rig.Advance(75);
  rig.Do(Beat{WorkerId("w")});
  EXPECT_THAT(rig.Explain(200), HasSubstr("waits for 1 min 15 s; before it: user \"bob\", who had "
                                          "less slot time lately (0 s against 10 s)"));
  EXPECT_THAT(rig.Explain(300), testing::Not(HasSubstr("before it")));
}

}  // namespace
}  // namespace dynbench::scheduler

// Method: drive the pure scheduler with a scripted fleet; no time passes except through Advance().
// After each event the invariants are checked by the rig.
#include "coordinator/scheduler/scheduler.h"

#include <algorithm>
#include <numeric>

#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int64_t>;

std::vector<Task> Models(int n, int64_t first = 1) {
  std::vector<Task> tasks;
  for (int i = 0; i < n; ++i) tasks.push_back(MakeTask(first + i, "m" + std::to_string(first + i)));
  return tasks;
}

TEST(Scheduler, WorkGoesToWhoCanRunItWhicheverComesFirst) {
  Rig rig;
  EXPECT_TRUE(rig.Submit(1, Models(1)).empty());
  rig.Join("w");
  EXPECT_EQ(rig.Granted("w"), Ids{1});
  EXPECT_EQ(rig.last_grant.epoch, LeaseEpoch(1));
  rig.Finish(1, LeaseEpoch(1));
  ASSERT_EQ(rig.All<CloseLease>().size(), 1u);
  rig.Submit(2, Models(1, 2));
  EXPECT_EQ(rig.Granted("w"), Ids{2});
}

TEST(Scheduler, DynamicChunksAreLargeFirstAndShrinkToOne) {
  Rig rig;
  rig.Join("w");
  rig.Join("v");
  rig.Submit(1, Models(40));
  std::vector<size_t> sizes;
  std::vector<Grant> live = rig.All<Grant>();
  while (!live.empty()) {
    const Grant grant = live.front();
    live.erase(live.begin());
    sizes.push_back(grant.experiments.size());
    for (const ExperimentId id : grant.experiments) {
      rig.Finish(id.value, grant.epoch);
      for (const Grant& next : rig.All<Grant>()) live.push_back(next);
    }
  }
  EXPECT_EQ(sizes.front(), 8u);
  EXPECT_EQ(sizes.back(), 1u);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), 40u);
}

TEST(Scheduler, PartitionsAreLeasedWholeToOneSlotInPlanOrder) {
  for (const auto policy : {plan::PartitionPolicy::kStatic, plan::PartitionPolicy::kBalanced}) {
    Rig rig;
    std::vector<Task> tasks = Models(20);
    for (size_t i = 0; i < tasks.size(); ++i) tasks[i].partition = i < 11 ? 0 : 1;
    rig.Submit(1, tasks, policy);
    rig.Join("w", 3);
    const auto grants = rig.All<Grant>();
    ASSERT_EQ(grants.size(), 2u);
    EXPECT_EQ(grants[0].experiments.size(), 11u);
    EXPECT_EQ(grants[1].experiments.size(), 9u);
    EXPECT_EQ(grants[0].experiments.front(), ExperimentId(1));
    EXPECT_EQ(grants[0].experiments.back(), ExperimentId(11));
  }
}

TEST(Scheduler, HigherPriorityFirstThenTheOrderOfSubmission) {
  Rig rig;
  rig.Submit(1, Models(1, 10));
  rig.Submit(2, Models(1, 20));
  rig.Submit(3, Models(1, 30), plan::PartitionPolicy::kDynamic, 5);
  Ids order;
  rig.Join("w");
  while (!rig.All<Grant>().empty()) {
    order.push_back(rig.last_grant.experiments[0].value);
    rig.Finish(order.back(), rig.last_grant.epoch);
  }
  EXPECT_EQ(order, (Ids{30, 10, 20}));
}

TEST(Scheduler, ASlotStaysWithTheEnvironmentThatItUsedLast) {
  Rig rig;
  std::vector<Task> tasks = Models(4);
  tasks[1].environment = tasks[3].environment = "nightly";
  tasks[0].expected_s = 99;
  rig.Do(WorkerJoined{WorkerId("w"), {MakeSlot(0, {"default", "nightly"})}, {}});
  rig.Submit(1, tasks);
  Ids order;
  while (!rig.All<Grant>().empty()) {
    order.push_back(rig.last_grant.experiments[0].value);
    rig.Finish(order.back(), rig.last_grant.epoch);
  }
  EXPECT_EQ(order, (Ids{1, 3, 2, 4}));
}

TEST(Scheduler, AnIdleSlotThatHasTheEnvironmentAtHandIsPreferred) {
  Rig rig;
  const auto both = std::set<std::string>{"default", "nightly"};
  rig.Do(WorkerJoined{WorkerId("w"), {MakeSlot(0, both), MakeSlot(1, both)}, {}});
  std::vector<Task> tasks = Models(2);
  tasks[1].environment = "nightly";
  rig.Submit(1, tasks);
  const auto grants = rig.All<Grant>();
  ASSERT_EQ(grants.size(), 2u);
  for (const Grant& g : grants) rig.Finish(g.experiments[0].value, g.epoch);
  for (const Grant& g : grants) {
    std::vector<Task> again = Models(1, 10 + g.slot.index);
    again[0].environment = tasks[static_cast<size_t>(g.experiments[0].value - 1)].environment;
    rig.Submit(10 + g.slot.index, again);
    EXPECT_EQ(rig.last_grant.slot, g.slot);
    rig.Finish(10 + g.slot.index, rig.last_grant.epoch);
  }
}

TEST(Scheduler, DeviceAndEnvironmentHaveToMatchAndTheReasonIsSaid) {
  Rig rig;
  EXPECT_EQ(rig.Explain(1), "");
  std::vector<Task> tasks = Models(2);
  tasks[0].environment = "nightly";
  tasks[1].device = "cuda";
  rig.Submit(1, tasks);
  EXPECT_THAT(rig.Explain(1), HasSubstr("no worker is connected"));
  EXPECT_TRUE(rig.Join("w").empty());
  EXPECT_THAT(rig.Explain(1),
              HasSubstr("worker w: does not have environment nightly (has: default)"));
  EXPECT_THAT(rig.Explain(2), HasSubstr("worker w: has no cuda slot (has: cpu)"));
  EXPECT_LT(rig.scheduler.EtaOf(JobId(1), rig.now).p50_s, 0);
  rig.Do(SlotsChanged{WorkerId("w"), {MakeSlot(0, {"default", "nightly"})}});
  EXPECT_EQ(rig.Granted("w"), Ids{1});
}

TEST(Scheduler, WaitingBehindOthersIsExplained) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(2));
  EXPECT_THAT(rig.Explain(2), HasSubstr("worker w: slot 0 is busy with m1 (lease 1, 1 to do)"));
  EXPECT_EQ(rig.Explain(1), "") << "it does not wait";
  SlotOffer drained = MakeSlot(0);
  drained.accepting = false;
  drained.reason = "disk low";
  rig.Do(SlotsChanged{WorkerId("w"), {drained}});
  EXPECT_THAT(rig.Explain(2), HasSubstr("slot 0 takes no work: disk low"));
  rig.Do(WorkerLeft{WorkerId("w")});
  EXPECT_THAT(rig.Explain(2), HasSubstr("worker w: is not connected"));
}

TEST(Scheduler, ADrainedSlotKeepsItsLeaseAndGetsNoOther) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(2));
  SlotOffer drained = MakeSlot(0);
  drained.accepting = false;
  EXPECT_TRUE(rig.Do(SlotsChanged{WorkerId("w"), {drained}}).empty());
  rig.Finish(1, LeaseEpoch(1));
  EXPECT_TRUE(rig.All<Grant>().empty());
  rig.Do(SlotsChanged{WorkerId("w"), {MakeSlot(0)}});
  EXPECT_EQ(rig.Granted("w"), Ids{2});
}

TEST(Scheduler, ALeaseLivesOnBeatsAndIsFencedWhenOthersTakeItsWork) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  rig.Advance(100);
  rig.Do(Beat{WorkerId("w")});
  rig.Advance(119);
  EXPECT_TRUE(rig.Do(Tick{}).empty());
  EXPECT_EQ(rig.scheduler.NextDeadline(rig.now) - rig.now, kNsPerSecond);
  rig.Join("v");
  EXPECT_TRUE(rig.All<Grant>().empty());
  rig.Advance(1);
  rig.Do(Tick{});
  // In this order: the store must hear that the old epoch is over before the new one is granted.
  ASSERT_EQ(rig.actions.size(), 4u);
  const auto& requeue = std::get<Requeue>(rig.actions[0]);
  EXPECT_EQ(requeue.fenced, LeaseEpoch(1));
  EXPECT_THAT(requeue.reason, HasSubstr("worker w was not heard for 120 s"));
  EXPECT_EQ(std::get<Revoke>(rig.actions[1]).worker, WorkerId("w"));
  EXPECT_EQ(std::get<CloseLease>(rig.actions[2]).epoch, LeaseEpoch(1));
  EXPECT_EQ(std::get<Grant>(rig.actions[3]).epoch, LeaseEpoch(2));
  EXPECT_EQ(std::get<Grant>(rig.actions[3]).slot.worker, WorkerId("v"));
}

TEST(Scheduler, WhatNobodyTookIsKeptByAWorkerThatIsHeardAgain) {
  for (const bool by_hello : {true, false}) {
    Rig rig;
    rig.Join("w");
    rig.Submit(1, Models(1));
    if (by_hello) rig.Do(WorkerLeft{WorkerId("w")});
    rig.Advance(500);
    EXPECT_TRUE(rig.Do(Tick{}).empty());
    EXPECT_THAT(rig.Explain(1), HasSubstr("held it under lease 1, which expired"));
    rig.Advance(500);
    if (by_hello) {
      EXPECT_TRUE(rig.Join("w", 1, {{LeaseEpoch(1), 0, {ExperimentId(1)}}}).empty());
    } else {
      EXPECT_TRUE(rig.Do(Beat{WorkerId("w")}).empty());
    }
    EXPECT_EQ(rig.Explain(1), "");
    rig.Join("v");
    EXPECT_TRUE(rig.All<Grant>().empty());
    rig.Finish(1, LeaseEpoch(1));
    EXPECT_EQ(rig.All<CloseLease>().size(), 1u);
  }
}

TEST(Scheduler, ALapsedResultThatArrivesBeforeAnybodyTookItCounts) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  rig.Advance(500);
  rig.Do(Tick{});
  rig.Finish(1, LeaseEpoch(1));
  EXPECT_EQ(rig.All<CloseLease>().size(), 1u);
  rig.Join("v");
  EXPECT_TRUE(rig.All<Grant>().empty());
}

TEST(Scheduler, AResultCommittedBeforeItsLeaseWasFencedStopsTheNewLease) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  rig.Join("v");
  rig.Advance(500);
  rig.Do(Beat{WorkerId("v")});
  rig.Do(Tick{});
  ASSERT_EQ(rig.Granted("v"), Ids{1});
  rig.Finish(1, LeaseEpoch(1));
  ASSERT_EQ(rig.All<Revoke>().size(), 1u);
  EXPECT_EQ(rig.All<Revoke>()[0].worker, WorkerId("v"));
  EXPECT_EQ(rig.All<CloseLease>()[0].epoch, LeaseEpoch(2));
}

TEST(Scheduler, AWorkerThatComesBackTooLateIsToldToStop) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  rig.Do(WorkerLeft{WorkerId("w")});
  rig.Advance(500);
  rig.Do(Tick{});
  rig.Join("v");
  ASSERT_EQ(rig.Granted("v"), Ids{1});
  rig.Join("w", 1, {{LeaseEpoch(1), 0, {ExperimentId(1)}}});
  ASSERT_EQ(rig.All<Revoke>().size(), 1u);
  EXPECT_EQ(rig.All<Revoke>()[0].epoch, LeaseEpoch(1));
  EXPECT_EQ(rig.All<Revoke>()[0].experiments, std::vector<ExperimentId>{ExperimentId(1)});
  // Its slot is free for other work at once.
  rig.Submit(2, Models(1, 2));
  EXPECT_EQ(rig.Granted("w"), Ids{2});
}

TEST(Scheduler, WhatAWorkerDoesNotNameWhenItJoinsWaitsAgain) {
  Rig rig;
  rig.Join("w", 2);
  std::vector<Task> tasks = Models(4);
  for (Task& task : tasks) task.partition = task.id.value <= 2 ? 0 : 1;
  rig.Submit(1, tasks, plan::PartitionPolicy::kStatic);
  ASSERT_EQ(rig.Granted("w"), (Ids{1, 2, 3, 4}));
  // Lease 1 with experiment 2 only, lease 2 not at all; it knows of a lease that we do not.
  rig.Join("w", 2, {{LeaseEpoch(1), 0, {ExperimentId(2)}}, {LeaseEpoch(77), 1, {ExperimentId(9)}}});
  Ids requeued;
  for (const Requeue& r : rig.All<Requeue>()) requeued.push_back(r.experiment.value);
  EXPECT_EQ(requeued, (Ids{1, 3, 4}));
  ASSERT_EQ(rig.All<Revoke>().size(), 1u);
  EXPECT_EQ(rig.All<Revoke>()[0].epoch, LeaseEpoch(77));
  EXPECT_EQ(rig.All<CloseLease>()[0].epoch, LeaseEpoch(2));
  EXPECT_EQ(rig.Granted("w"), Ids{1});  // slot 1 is free, slot 0 still has lease 1
  EXPECT_EQ(rig.last_grant.slot.index, 1);
}

TEST(Scheduler, AWorkersDeathCountsOnlyAgainstWhatRan) {
  Rig rig;
  std::vector<Task> tasks = Models(2);
  rig.Submit(1, tasks, plan::PartitionPolicy::kStatic);
  rig.Join("w");
  ASSERT_EQ(rig.Granted("w"), (Ids{1, 2}));
  for (int death = 1; death <= 2; ++death) {
    const LeaseEpoch epoch = rig.last_grant.epoch;
    rig.Do(Started{{ExperimentId(1), epoch}});
    rig.Do(WorkerDied{WorkerId("w"), {ExperimentId(1)}});
    if (death == 1) {
      ASSERT_EQ(rig.All<Requeue>().size(), 1u);
      EXPECT_EQ(rig.All<Requeue>()[0].experiment, ExperimentId(1));
      rig.Join("w");
      EXPECT_EQ(rig.Granted("w"), (Ids{1, 2})) << "at its original place";
    }
  }
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  const Conclude verdict = rig.All<Conclude>()[0];
  EXPECT_EQ(verdict.experiment, ExperimentId(1));
  EXPECT_EQ(verdict.outcome, plan::Outcome::kFailed);
  EXPECT_EQ(verdict.status, "crash");
  EXPECT_THAT(verdict.reason, HasSubstr("died 2 times"));
  rig.Join("w");
  EXPECT_EQ(rig.Granted("w"), Ids{2}) << "the bystander goes on";
}

TEST(Scheduler, TheSpoolOfADeadProcessIsNotRunAgain) {
  Rig rig;
  rig.Submit(1, Models(3), plan::PartitionPolicy::kStatic);
  rig.Join("w");
  rig.Do(WorkerDied{WorkerId("w"), {ExperimentId(2)}});
  // 1 is finished and in the spool, 2 was running, 3 never began.
  rig.Join("w", 1, {{LeaseEpoch(1), 0, {ExperimentId(1)}}});
  EXPECT_TRUE(rig.All<Grant>().empty());
  rig.Finish(1, LeaseEpoch(1));
  EXPECT_EQ(rig.Granted("w"), (Ids{2, 3}));
}

TEST(Scheduler, InfrastructureFailuresGoElsewhereAndEndAsLost) {
  Rig rig;
  rig.Join("w");
  rig.Join("v");
  rig.Submit(1, Models(1));
  std::string last;
  for (int failure = 1; failure <= 3; ++failure) {
    const Grant grant = rig.last_grant;
    EXPECT_NE(grant.slot.worker.value, last);
    last = grant.slot.worker.value;
    rig.Do(Returned{{ExperimentId(1), grant.epoch}, "no space", true});
    if (failure == 3) break;
    EXPECT_TRUE(rig.All<Grant>().empty()) << "it is held back first";
    EXPECT_THAT(rig.Explain(1), HasSubstr("after an infrastructure failure on worker " + last));
    rig.PassTime();
  }
  ASSERT_EQ(rig.All<Conclude>().size(), 1u);
  EXPECT_EQ(rig.All<Conclude>()[0].outcome, plan::Outcome::kLost);
  EXPECT_EQ(rig.All<Conclude>()[0].blame, plan::Blame::kInfrastructure);
  EXPECT_THAT(rig.All<Conclude>()[0].reason, HasSubstr("no space"));
}

TEST(Scheduler, AnInfrastructureFailureIsTriedAgainInPlaceWhenNobodyElseCan) {
  Rig rig;
  rig.Join("w");
  rig.Join("v");
  rig.Submit(1, Models(2));
  const Grant first = rig.last_grant;
  rig.Do(Returned{{first.experiments[0], first.epoch}, "no space", true});
  rig.PassTime();
  EXPECT_TRUE(rig.All<Grant>().empty()) << "the other worker is busy, but could";
  const std::string other = first.slot.worker.value == "w" ? "v" : "w";
  EXPECT_THAT(rig.Explain(first.experiments[0].value), HasSubstr("another worker is preferred"));
  rig.Do(WorkerLeft{WorkerId(other)});
  EXPECT_EQ(rig.Granted(first.slot.worker.value), Ids{first.experiments[0].value});
}

TEST(Scheduler, ADrainNeverCounts) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  for (int i = 0; i < 10; ++i) {
    rig.Do(Returned{{ExperimentId(1), rig.last_grant.epoch}, "draining", false});
    ASSERT_EQ(rig.All<Requeue>().size(), 1u);
    ASSERT_EQ(rig.Granted("w"), Ids{1});
  }
}

TEST(Scheduler, CancellingConcludesEverythingAndStopsWhatRuns) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(2));
  rig.Submit(2, Models(1, 3));
  rig.Do(JobCancelled{JobId(1), "wrong branch"});
  EXPECT_EQ(rig.All<Conclude>().size(), 2u);
  for (const Conclude& c : rig.All<Conclude>()) {
    EXPECT_EQ(c.outcome, plan::Outcome::kCancelled);
    EXPECT_EQ(c.reason, "wrong branch");
  }
  ASSERT_EQ(rig.All<Revoke>().size(), 1u);
  EXPECT_EQ(rig.Granted("w"), Ids{3});
  EXPECT_TRUE(std::holds_alternative<Grant>(rig.actions.back())) << "revoked before it is reused";
  EXPECT_TRUE(rig.Finish(1, LeaseEpoch(1)).empty());
  EXPECT_TRUE(rig.Do(JobCancelled{JobId(1), "again"}).empty());
}

TEST(Scheduler, AfterARestartLeasesGoOnAndEpochsDoNotRepeat) {
  Options options;
  options.first_epoch = LeaseEpoch(8);
  Rig rig(options);
  rig.Submit(1, Models(3), plan::PartitionPolicy::kStatic);
  rig.Do(Recovered{{{LeaseEpoch(7), {WorkerId("w"), 0}, {ExperimentId(1), ExperimentId(2)}}}});
  rig.Join("v");
  EXPECT_EQ(rig.Granted("v"), Ids{3});
  EXPECT_EQ(rig.last_grant.epoch, LeaseEpoch(8));
  rig.Advance(100);
  EXPECT_TRUE(rig.Join("w", 1, {{LeaseEpoch(7), 0, {ExperimentId(1), ExperimentId(2)}}}).empty());
  rig.Finish(1, LeaseEpoch(7));
  rig.Finish(2, LeaseEpoch(7));
  EXPECT_EQ(rig.All<CloseLease>().size(), 1u);
}

TEST(Scheduler, ARecoveredLeaseWhoseWorkerStaysAwayExpires) {
  Rig rig;
  rig.Submit(1, Models(1));
  rig.Do(Recovered{{{LeaseEpoch(7), {WorkerId("w"), 0}, {ExperimentId(1)}}}});
  rig.Join("v");
  rig.Advance(119);
  rig.Do(Beat{WorkerId("v")});
  EXPECT_TRUE(rig.Do(Tick{}).empty());
  rig.Advance(1);
  rig.Do(Tick{});
  EXPECT_EQ(rig.Granted("v"), Ids{1});
  EXPECT_EQ(rig.last_grant.epoch, LeaseEpoch(8));
}

TEST(Scheduler, ACoordinatorThatWasStoppedExpiresNothing) {
  Rig rig;
  rig.Join("w");
  rig.Join("v");
  rig.Submit(1, Models(1));
  rig.Advance(3600);
  rig.Do(Resumed{});
  EXPECT_TRUE(rig.Do(Tick{}).empty());
  rig.Advance(119);
  EXPECT_TRUE(rig.Do(Tick{}).empty());
}

TEST(Scheduler, TheEtaIsTheWorkLeftOverTheSlots) {
  Rig rig;
  rig.Join("w", 2);
  rig.Submit(1, Models(4));  // 10 s each
  EXPECT_NEAR(rig.scheduler.EtaOf(JobId(1), rig.now).p50_s, 20, 1e-9);
  const auto grants = rig.All<Grant>();
  for (const Grant& g : grants) rig.Do(Started{{g.experiments[0], g.epoch}});
  rig.Advance(5);
  EXPECT_NEAR(rig.scheduler.EtaOf(JobId(1), rig.now).p50_s, 15, 1e-9);
  EXPECT_EQ(rig.scheduler.EtaOf(JobId(9), rig.now).p50_s, 0);
  // A later job also waits for the earlier one.
  rig.Submit(2, Models(2, 10));
  EXPECT_NEAR(rig.scheduler.EtaOf(JobId(2), rig.now).p50_s, 25, 1e-9);
}

TEST(Scheduler, TheEtasUpperEndNarrowsWithTheNumberOfExperiments) {
  const auto eta_of = [](int n) {
    Rig rig;
    JobAdded job{JobId(1), plan::PartitionPolicy::kDynamic, 0, Models(n)};
    for (Task& task : job.tasks) task.p90_s = 1.5 * task.expected_s;
    rig.Do(job);
    rig.Join("w");
    return rig.scheduler.EtaOf(JobId(1), rig.now);
  };
  const Eta one = eta_of(1), hundred = eta_of(100);
  EXPECT_NEAR(one.p90_s / one.p50_s, 1.5, 1e-9);
  // Independent deviations: 100 times the work, 10 times the deviation.
  EXPECT_NEAR(hundred.p50_s, 1000, 1e-6);
  EXPECT_NEAR(hundred.p90_s, 1000 + 10 * 5, 1e-6);
  Rig alone;
  alone.Submit(1, Models(1));
  EXPECT_LT(alone.scheduler.EtaOf(JobId(1), alone.now).p90_s, 0) << "nobody could run it";
}

TEST(Scheduler, ALearnedLimitCountsForNothingAndSendsTheExperimentElsewhere) {
  Rig rig;
  rig.Join("w");
  rig.Submit(1, Models(1));
  rig.Join("v");
  for (int hit = 0; hit < 3; ++hit) {
    const Grant grant = rig.last_grant;
    const bool first = hit == 0;
    rig.Do(Returned{{grant.experiments[0], grant.epoch}, "too long", false, "", true});
    ASSERT_EQ(rig.All<Requeue>().size(), 1u);
    EXPECT_EQ(rig.All<Requeue>()[0].cause, "phase_limit");
    ASSERT_EQ(rig.All<Grant>().size(), 1u) << "at once: nothing was wrong with the host";
    if (first) {
      EXPECT_NE(rig.last_grant.slot.worker, grant.slot.worker);
    }
  }
  EXPECT_TRUE(rig.All<Conclude>().empty());
}

TEST(Scheduler, WhatCountedBeforeARestartStillCounts) {
  Options options;
  Rig rig(options);
  std::vector<Task> tasks = Models(2);
  tasks[0].crashes = options.crash_budget - 1;
  tasks[1].infrastructure_failures = options.infrastructure_retries;
  rig.Submit(1, tasks);
  rig.Join("w");
  const Grant first = rig.last_grant;
  ASSERT_EQ(first.experiments.size(), 1u);
  const auto fail = [&](const Grant& grant) {
    const AttemptId attempt{grant.experiments[0], grant.epoch};
    rig.Do(Started{attempt});
    if (attempt.experiment == tasks[0].id) {
      rig.Do(WorkerDied{WorkerId("w"), {attempt.experiment}});
    } else {
      rig.Do(Returned{attempt, "no space", /*infrastructure_failure=*/true});
    }
    ASSERT_EQ(rig.All<Conclude>().size(), 1u);
    EXPECT_EQ(rig.All<Conclude>()[0].status, attempt.experiment == tasks[0].id ? "crash" : "lost");
  };
  fail(first);
  if (rig.last_grant.epoch == first.epoch) rig.Join("w");
  fail(rig.last_grant);
}

// Not a benchmark: when an event scans the fleet or the queue, the test's time limit ends it.
TEST(Scheduler, ManyTasksOnAThousandWorkers) {
  Options options;
  Scheduler scheduler(options);
  MonotonicTime now{0};
  constexpr int kTasks = Scaled(20'000);
  std::vector<Grant> live;
  size_t granted = 0;
  const auto step = [&](const Event& event) {
    for (const Action& action : scheduler.Step(now, event)) {
      if (const auto* grant = std::get_if<Grant>(&action)) {
        live.push_back(*grant);
        granted += grant->experiments.size();
      }
    }
  };
  for (int w = 0; w < 1'000; ++w) {
    step(WorkerJoined{WorkerId("w" + std::to_string(w)), {MakeSlot(0)}, {}});
  }
  step(JobAdded{JobId(1), plan::PartitionPolicy::kDynamic, 0, Models(kTasks)});
  for (size_t i = 0; i < live.size(); ++i) {
    const Grant grant = live[i];
    step(Beat{grant.slot.worker});
    for (const ExperimentId id : grant.experiments) step(Finished{{id, grant.epoch}});
  }
  EXPECT_EQ(granted, size_t{kTasks});
  scheduler.CheckInvariants();
}

}  // namespace
}  // namespace dynbench::scheduler

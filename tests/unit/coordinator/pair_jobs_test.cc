// Method: a job of a few pairs is driven by hand: each round that is given is answered with made
// figures, until nothing is left; a restart is one more PairJobs that is told the same results.
#include "coordinator/session/pair_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace dynbench::session {
namespace {

using testing::HasSubstr;

const JobId kJob(1);

plan::Request RequestOf(int64_t budget_s) {
  plan::Request request;
  request.base = "old";
  request.fresh = "nightly";
  request.budget_s = budget_s;
  return request;
}

// Ids: pair * 1000 + round * 10 + side.
std::vector<PairMember> Members(int pairs, int rounds, double expected_s) {
  std::vector<PairMember> members;
  for (int pair = 1; pair <= pairs; ++pair) {
    for (int round = 1; round <= rounds; ++round) {
      for (const bool fresh : {false, true}) {
        PairMember& m = members.emplace_back();
        m.id = ExperimentId(pair * 1000 + round * 10 + (fresh ? 1 : 0));
        m.pair = pair;
        m.round = round;
        m.fresh = fresh;
        m.task.id = m.id;
        m.task.expected_s = expected_s;
      }
    }
  }
  return members;
}

plan::Result Figure(double compiled_ms) {
  plan::Result result;
  result.outcome = plan::Outcome::kPassed;
  result.metrics.abs_latency_ms = compiled_ms;
  result.metrics.eager_latency_ms = 20;
  return result;
}

plan::Result ResultOf(const PairJobs::Dropped& dropped) {
  plan::Result result;
  result.outcome = dropped.outcome;
  result.status = dropped.status;
  result.blame = dropped.blame;
  result.error = dropped.reason;
  return result;
}

// A job with its results so far.
struct Rig {
  explicit Rig(int pairs, int64_t budget_s = 0, double round_s = 20, int rounds = 14,
               double predicted_s = 0)
      : members(Members(pairs, rounds, (predicted_s > 0 ? predicted_s : round_s) / 2)),
        seconds(round_s / 2) {
    request = RequestOf(budget_s);
    added.job = kJob;
    jobs.Add(request, added, members);
  }

  void Take(const PairJobs::Moves& moves) {
    for (const scheduler::Task& task : moves.added.job.tasks) given.push_back(task);
    for (const PairJobs::Dropped& d : moves.dropped) {
      dropped.push_back(d);
      landed[d.experiment] = {ResultOf(d), LeaseEpoch(), {}, 0};
      jobs.Record(d.experiment, landed[d.experiment]);
    }
  }
  void Next(size_t slots = 1) { Take(jobs.Next(kJob, slots)); }
  // Both sides of the round that was given first and has no results.
  void Answer(double change, size_t slots = 1) {
    const std::string unit = given.front().unit;
    const LeaseEpoch lease(++leases);
    for (const scheduler::Task& task : given) {
      if (task.unit != unit) continue;
      const bool fresh = task.id.value % 10 == 1;
      Land(task.id, {Figure(fresh ? 10 * (1 + change) : 10), lease, {WorkerId("w"), 2}, seconds});
    }
    std::erase_if(given, [&](const scheduler::Task& task) { return task.unit == unit; });
    Next(slots);
  }
  void Land(ExperimentId id, const PairJobs::Landed& result) {
    landed[id] = result;
    jobs.Record(id, result);
  }

  plan::Request request;
  scheduler::JobAdded added;
  std::vector<PairMember> members;
  double seconds;
  PairJobs jobs;
  std::vector<scheduler::Task> given;
  std::vector<PairJobs::Dropped> dropped;
  std::map<ExperimentId, PairJobs::Landed> landed;
  int64_t leases = 0;
};

TEST(PairJobs, OneRoundOfAPairAtATimeAndTheRestIsSkippedOnceItIsDecided) {
  Rig rig(1);
  rig.Next();
  ASSERT_EQ(rig.given.size(), 2U);
  EXPECT_EQ(rig.given[0].unit, rig.given[1].unit);
  EXPECT_FALSE(rig.given[0].pinned.worker);
  EXPECT_THAT(rig.jobs.WhyWaiting(ExperimentId(1020)), HasSubstr("round 1"));
  EXPECT_EQ(rig.jobs.WhyWaiting(ExperimentId(1010)), "") << "it is in the scheduler";
  int rounds = 0;
  while (!rig.given.empty()) {
    EXPECT_EQ(rig.given.size(), 2U);
    if (rounds > 0) {
      EXPECT_EQ(rig.given[0].pinned, (SlotId{WorkerId("w"), 2}));
    }
    rig.Answer(0.0005 * (rounds % 3));
    ++rounds;
  }
  EXPECT_GE(rounds, 3);
  EXPECT_LE(rounds, 6);
  EXPECT_EQ(rig.landed.size(), rig.members.size()) << "every experiment has a result";
  EXPECT_EQ(rig.dropped.size(), rig.members.size() - 2 * static_cast<size_t>(rounds));
  EXPECT_THAT(rig.dropped[0].reason,
              HasSubstr("pair decided after " + std::to_string(rounds) + " rounds: same"));
}

TEST(PairJobs, ADisturbedRoundIsRepeatedByTheNextOne) {
  Rig rig(1);
  rig.Next();
  const LeaseEpoch lease(100);
  rig.Land(rig.given[0].id, {Figure(10), lease, {WorkerId("w"), 0}, 1});
  plan::Result skipped;
  skipped.outcome = plan::Outcome::kSkipped;
  skipped.status = "skipped";
  skipped.error = "its round was disturbed";
  rig.Land(rig.given[1].id, {skipped, LeaseEpoch(), {}, 0});
  rig.given.clear();
  rig.Next();
  ASSERT_EQ(rig.given.size(), 2U);
  EXPECT_FALSE(rig.given[0].pinned.worker) << "no round has counted yet";
  int rounds = 0;
  while (!rig.given.empty()) {
    rig.Answer(0);
    ++rounds;
  }
  EXPECT_THAT(rig.dropped.back().reason, HasSubstr(std::to_string(rounds) + " rounds"));
}

TEST(PairJobs, APairThatIsDisturbedAgainAndAgainIsGivenUp) {
  Rig rig(1);
  rig.Next();
  for (int i = 0; i < 3; ++i) {
    plan::Result lost;
    lost.outcome = plan::Outcome::kLost;
    lost.status = "lost";
    lost.error = "device gone";
    for (const scheduler::Task& task : rig.given) rig.Land(task.id, {lost, LeaseEpoch(), {}, 0});
    rig.given.clear();
    rig.Next();
  }
  EXPECT_TRUE(rig.given.empty());
  EXPECT_THAT(rig.dropped[0].reason, HasSubstr("3 rounds were disturbed"));
  EXPECT_EQ(rig.landed.size(), rig.members.size());
}

// The round that was given first, as one between whose sides something came.
void Disturb(Rig* rig) {
  const std::string unit = rig->given.front().unit;
  for (const scheduler::Task& task : rig->given) {
    if (task.unit != unit) continue;
    rig->Land(task.id, {Figure(10), LeaseEpoch(++rig->leases), {WorkerId("w"), 2}, rig->seconds});
  }
  std::erase_if(rig->given, [&](const scheduler::Task& task) { return task.unit == unit; });
  rig->Next();
}

TEST(PairJobs, RoundsThatAreDisturbedNowAndThenEndNoPair) {
  Rig rig(1, /*budget_s=*/0, /*round_s=*/20, /*rounds=*/52);
  rig.request.rounds_max = 50;
  rig.jobs = PairJobs();
  rig.jobs.Add(rig.request, rig.added, rig.members);
  rig.Next();
  int rounds = 0;
  while (!rig.given.empty()) {
    // One in five, and a noise in which nothing is decided.
    if (++rounds % 5 == 0) {
      Disturb(&rig);
    } else {
      rig.Answer(rounds % 2 == 0 ? 0.5 : -0.4);
    }
  }
  EXPECT_EQ(rounds, 52) << "all that were planned";
  EXPECT_TRUE(rig.dropped.empty()) << rig.dropped[0].reason;
}

TEST(PairJobs, APairOfWhichMoreIsDisturbedThanCountsIsGivenUp) {
  Rig rig(1);
  rig.Next();
  for (const bool counts : {true, false, false, true, false}) {
    ASSERT_FALSE(rig.given.empty());
    if (counts) {
      rig.Answer(0.1);
    } else {
      Disturb(&rig);
    }
  }
  EXPECT_TRUE(rig.given.empty());
  EXPECT_THAT(rig.dropped[0].reason, HasSubstr("3 rounds were disturbed"));
}

TEST(PairJobs, WhatNoWorkerCanRunEndsThePairWithTheSameWords) {
  Rig rig(2);
  rig.Next();
  plan::Result unplaceable;
  unplaceable.outcome = plan::Outcome::kLost;
  unplaceable.status = "unplaceable";
  unplaceable.error = "no known worker has environment nightly";
  for (const scheduler::Task& task : rig.given) {
    rig.Land(task.id, {unplaceable, LeaseEpoch(), {}, 0});
  }
  rig.given.clear();
  rig.Next();
  EXPECT_TRUE(rig.given.empty());
  EXPECT_EQ(rig.landed.size(), rig.members.size());
  for (const auto& d : rig.dropped) {
    EXPECT_EQ(d.status, "unplaceable");
    EXPECT_THAT(d.reason, HasSubstr("environment nightly"));
  }
}

TEST(PairJobs, ABudgetIsSpentWhereTheDecisionIsClosestAndNeverExceeded) {
  Rig rig(10, /*budget_s=*/200, /*round_s=*/20);
  rig.Next();
  EXPECT_EQ(rig.given.size(), 4U) << "two rounds for one slot: it never waits for us";
  int rounds = 0;
  std::map<std::string, int> of_pair;
  while (!rig.given.empty()) {
    ++of_pair[rig.given.front().unit.substr(0, 6)];
    rig.Answer(0.0001);
    ++rounds;
  }
  EXPECT_EQ(rounds, 10) << "200 s are ten rounds of 20 s";
  EXPECT_EQ(rig.landed.size(), rig.members.size());
  EXPECT_EQ(of_pair.size(), 4U) << "three of which it has MIN rounds, and what is left over";
  EXPECT_THAT(rig.dropped.back().reason, HasSubstr("budget"));
}

// A fresh coordinator guesses a minute a side; a round takes 20 s.
TEST(PairJobs, NoPairIsDroppedForAGuessWhileTheJobsRoundsSayThatThereIsRoom) {
  for (const int64_t budget_s : {90, 180}) {
    Rig rig(6, budget_s, /*round_s=*/20, /*rounds=*/14, /*predicted_s=*/120);
    rig.Next();
    EXPECT_EQ(rig.given.size(), 2U) << "one round, to know how long they take";
    int64_t rounds = 0;
    while (!rig.given.empty()) {
      rig.Answer(rounds % 2 == 0 ? 0.3 : -0.2);
      ++rounds;
    }
    EXPECT_EQ(rounds, budget_s / 20) << "all of it is spent";
    EXPECT_EQ(rig.landed.size(), rig.members.size());
  }
}

TEST(PairJobs, AfterARestartARoundIsExpectedToTakeAsLongAsBefore) {
  Rig rig(2, /*budget_s=*/10'000, /*round_s=*/20);
  rig.Next();
  Disturb(&rig);
  std::vector<PairMember> members = rig.members;
  for (PairMember& member : members) {
    // What ended has no task and no prediction any more.
    if (rig.landed.contains(member.id)) member.task = scheduler::Task();
  }
  PairJobs again;
  again.Add(rig.request, rig.added, members);
  for (const auto& [id, landed] : rig.landed) again.Record(id, landed);
  std::vector<scheduler::Task> resumed;
  for (const scheduler::Task& task : rig.given) again.Resume(task.id, &resumed);
  EXPECT_GT(rig.jobs.SecondsLeft(kJob), 0);
  EXPECT_EQ(again.SecondsLeft(kJob), rig.jobs.SecondsLeft(kJob));
  EXPECT_TRUE(again.Next(kJob, 1).added.job.tasks.empty());
}

// As the scheduler does: the lowest rank first.
void AnswerTheFirst(Rig* rig, double change) {
  std::stable_sort(
      rig->given.begin(), rig->given.end(),
      [](const scheduler::Task& a, const scheduler::Task& b) { return a.rank < b.rank; });
  rig->Answer(change);
}

std::map<std::string, int> RoundsByPair(const Rig& rig) {
  std::map<std::string, int> rounds;
  for (const auto& [id, landed] : rig.landed) {
    if (landed.lease && id.value % 10 == 0) ++rounds["pair " + std::to_string(id.value / 1000)];
  }
  return rounds;
}

TEST(PairJobs, TimeInWhichASideStoodStillForTheOtherIsSpentOnce) {
  Rig rig(1, /*budget_s=*/100, /*round_s=*/20);
  rig.Next();
  int rounds = 0;
  while (!rig.given.empty()) {
    const LeaseEpoch lease(++rig.leases);
    for (const scheduler::Task& task : rig.given) {
      plan::Result result = Figure(task.id.value % 10 == 1 ? 10 + 3 * (rounds % 2) : 10);
      result.phases = {{plan::Phase::kReady, 0, 10'000'000'000}};
      rig.Land(task.id, {result, lease, {WorkerId("w"), 0}, 20});
    }
    rig.given.clear();
    ++rounds;
    rig.Next();
  }
  EXPECT_EQ(rounds, 5) << "two sides of 20 s each that wait for 10 s of the other are 20 s";
}

TEST(PairJobs, EveryPairHasItsFirstRoundsBeforeOneHasMore) {
  for (const int64_t budget_s : {0, 20 * 20}) {
    Rig rig(3, budget_s, /*round_s=*/20);
    rig.Next();
    for (int round = 1; round <= 3; ++round) {
      // Noisy, so that nothing is decided early.
      for (int i = 0; i < 3; ++i) AnswerTheFirst(&rig, round == 2 ? 0.2 : -0.1);
      const auto rounds = RoundsByPair(rig);
      EXPECT_EQ(rounds, (std::map<std::string, int>{
                            {"pair 1", round}, {"pair 2", round}, {"pair 3", round}}))
          << "budget " << budget_s;
    }
  }
}

TEST(PairJobs, BeyondTheFirstRoundsTheOneThatIsDecidedSoonestComesFirst) {
  Rig rig(2);
  rig.Next();
  for (int i = 0; i < 6; ++i) {
    std::stable_sort(
        rig.given.begin(), rig.given.end(),
        [](const scheduler::Task& a, const scheduler::Task& b) { return a.rank < b.rank; });
    const bool quiet = rig.given.front().id.value / 1000 == 2;
    rig.Answer(quiet ? 0.004 * (i % 3) : i < 2 ? 0.3 : -0.2);
  }
  int quiet_rank = -1, noisy_rank = -1;
  for (const scheduler::Task& task : rig.given) {
    (task.id.value / 1000 == 2 ? quiet_rank : noisy_rank) = task.rank;
  }
  ASSERT_GE(quiet_rank, 3);
  EXPECT_LT(quiet_rank, noisy_rank);
}

TEST(PairJobs, WithABudgetRoundsBeyondTheFirstGoToTheOneThatIsDecidedSoonest) {
  Rig rig(4, /*budget_s=*/2000, /*round_s=*/20);
  rig.Next();
  std::map<int, int> of_pair;
  for (int i = 0; i < 24; ++i) {
    ASSERT_FALSE(rig.given.empty());
    const int pair = static_cast<int>(rig.given.front().id.value / 1000);
    const int round = of_pair[pair]++;
    // The third will be decided after a few rounds more, the others are too noisy for it.
    rig.Answer(pair == 3 ? 0.012 * (round % 3) : round % 2 == 0 ? 0.3 : -0.2);
  }
  EXPECT_GE(of_pair[3], 8) << "where all have MIN rounds and it has had more than the others";
  for (const int pair : {1, 2, 4}) EXPECT_GE(of_pair[pair], 3) << pair;
}

TEST(PairJobs, ARestartComesToTheSame) {
  Rig rig(3);
  rig.Next(3);
  for (int i = 0; i < 5; ++i) rig.Answer(i == 2 ? 0.2 : 0.001, 3);
  PairJobs again;
  again.Add(rig.request, rig.added, rig.members);
  for (const auto& [id, landed] : rig.landed) again.Record(id, landed);
  std::vector<scheduler::Task> resumed;
  for (const scheduler::Task& task : rig.given) again.Resume(task.id, &resumed);
  EXPECT_EQ(resumed.size(), rig.given.size());
  const PairJobs::Moves moves = again.Next(kJob, 3);
  EXPECT_TRUE(moves.added.job.tasks.empty()) << "every open pair has its round";
  EXPECT_TRUE(moves.dropped.empty());
  const auto order = [](const scheduler::Task& a, const scheduler::Task& b) { return a.id < b.id; };
  std::sort(resumed.begin(), resumed.end(), order);
  std::sort(rig.given.begin(), rig.given.end(), order);
  for (size_t i = 0; i < resumed.size(); ++i) {
    EXPECT_EQ(resumed[i].id, rig.given[i].id);
    EXPECT_EQ(resumed[i].unit, rig.given[i].unit);
    EXPECT_EQ(resumed[i].pinned, rig.given[i].pinned);
  }
}

TEST(PairJobs, CancellingEndsWhatTheSchedulerDoesNotHave) {
  Rig rig(2);
  rig.Next();
  const auto dropped = rig.jobs.Cancel(kJob, "enough");
  EXPECT_EQ(dropped.size(), rig.members.size() - rig.given.size());
  EXPECT_EQ(dropped[0].outcome, plan::Outcome::kCancelled);
  EXPECT_TRUE(rig.jobs.Next(kJob, 1).added.job.tasks.empty());
  rig.jobs.Remove(kJob);
  EXPECT_FALSE(rig.jobs.Knows(kJob));
  EXPECT_EQ(rig.jobs.WhyWaiting(ExperimentId(1020)), "");
}

}  // namespace
}  // namespace dynbench::session

// Method: rounds of pairs (two tasks of one unit) on scripted fleets: what is leased together,
// where it goes, and what becomes of a round that something comes between. The rig checks the
// invariants.
#include <algorithm>

#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int64_t>;
using Names = std::set<std::string>;

// Tasks `first` and `first` + 1.
std::vector<Task> Round(int64_t first, const std::string& unit, const SlotId& pinned = {}) {
  std::vector<Task> tasks;
  for (const int64_t id : {first, first + 1}) {
    Task task = MakeTask(id, "m" + unit);
    task.environment = "old";
    task.needs.environments = {"old", "new"};
    task.unit = unit;
    task.pinned = pinned;
    tasks.push_back(task);
  }
  return tasks;
}

void JoinWith(Rig* rig, const std::string& worker, const Names& environments, int slots = 1) {
  WorkerJoined event{WorkerId(worker), {}, {}};
  for (int i = 0; i < slots; ++i) event.slots.push_back(MakeSlot(i, environments));
  rig->Do(event);
}

const Names kBoth = {"old", "new"};

TEST(Units, TheLowestRankGoesFirstHoweverShortItIs) {
  Rig rig;
  std::vector<Task> tasks;
  for (const int64_t first : {1, 3, 5}) {
    for (Task& task : Round(first, std::to_string(first))) {
      task.rank = first == 3 ? 0 : 1;
      task.expected_s = first == 5 ? 100 : 10;
      tasks.push_back(task);
    }
  }
  rig.Submit(1, tasks);
  JoinWith(&rig, "w", kBoth);
  EXPECT_EQ(rig.Granted("w"), (Ids{3, 4}));
  rig.Finish(3, rig.last_grant.epoch);
  rig.Finish(4, rig.last_grant.epoch);
  EXPECT_EQ(rig.Granted("w"), (Ids{5, 6})) << "of one rank the longest";
}

TEST(Units, ARoundIsOneLeaseOfBothSidesInTheirOrderAndNothingElse) {
  Rig rig;
  std::vector<Task> tasks = Round(1, "a");
  for (const Task& task : Round(3, "b")) tasks.push_back(task);
  rig.Submit(1, tasks);
  JoinWith(&rig, "w", kBoth);
  EXPECT_EQ(rig.Granted("w"), (Ids{1, 2}));
  rig.Finish(1, rig.last_grant.epoch);
  EXPECT_TRUE(rig.All<Grant>().empty()) << "the slot is the round's until both have ended";
  rig.Finish(2, rig.last_grant.epoch);
  EXPECT_EQ(rig.Granted("w"), (Ids{3, 4}));
}

TEST(Units, BothEnvironmentsAreNeededOnOneWorker) {
  Rig rig;
  JoinWith(&rig, "w", {"old"});
  JoinWith(&rig, "v", {"new"});
  rig.Do(JobAdded{
      JobId(1), plan::PartitionPolicy::kDynamic, 0, Round(1, "a"), "", {}, 10 * kNsPerSecond});
  EXPECT_TRUE(rig.All<Grant>().empty());
  EXPECT_THAT(rig.Explain(1), HasSubstr("does not have environment new (has: old)"));
  rig.PassTime();
  const auto conclusions = rig.All<Conclude>();
  ASSERT_EQ(conclusions.size(), 2U);
  EXPECT_EQ(conclusions[0].status, "unplaceable");
  EXPECT_THAT(conclusions[0].reason, HasSubstr("environment old and environment new"));
}

TEST(Units, FurtherRoundsStayWithTheSlotOfTheFirstWhileItIsThere) {
  Rig rig;
  JoinWith(&rig, "w", kBoth);
  JoinWith(&rig, "v", kBoth);
  const SlotId home{WorkerId("w"), 0};
  rig.Submit(1, Round(1, "a", home));
  ASSERT_EQ(rig.Granted("w"), (Ids{1, 2}));
  rig.Do(TasksAdded{{JobId(1), plan::PartitionPolicy::kDynamic, 0, Round(3, "b", home)}});
  EXPECT_TRUE(rig.All<Grant>().empty()) << "v is idle, but the pair began on w";
  rig.Do(SlotsChanged{WorkerId("w"), {}});
  EXPECT_EQ(rig.Granted("v"), (Ids{3, 4})) << "w has no such slot any more";
}

TEST(Units, AJobWhoseRoundsAllEndedTakesFurtherOnesAtItsOldPlace) {
  Rig rig;
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  const LeaseEpoch lease = rig.last_grant.epoch;
  rig.Submit(2, Round(50, "x"));
  rig.Finish(1, lease);
  JobAdded again{JobId(1), plan::PartitionPolicy::kDynamic, 0, Round(90, "b")};
  again.place = 1;
  rig.Finish(2, lease);
  ASSERT_EQ(rig.Granted("w"), (Ids{50, 51}));
  const LeaseEpoch other = rig.last_grant.epoch;
  rig.Submit(3, Round(70, "y"));
  rig.Do(TasksAdded{again});
  rig.Finish(50, other);
  rig.Finish(51, other);
  EXPECT_EQ(rig.Granted("w"), (Ids{90, 91}));
}

TEST(Units, ASideThatComesBackTakesTheOtherOneWithIt) {
  Rig rig;
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  const LeaseEpoch lease = rig.last_grant.epoch;
  rig.Do(Started{{ExperimentId(1), lease}});
  rig.Do(Returned{{ExperimentId(1), lease}, "no space", true});
  ASSERT_EQ(rig.All<Revoke>().size(), 1U);
  EXPECT_EQ(rig.All<Revoke>()[0].experiments, std::vector<ExperimentId>{ExperimentId(2)});
  EXPECT_EQ(rig.All<Requeue>().size(), 2U);
  rig.PassTime();
  EXPECT_EQ(rig.Granted("w"), (Ids{1, 2})) << "the round is repeated whole";
}

TEST(Units, ASideThatCouldOnlyBeRepeatedAloneIsSkipped) {
  Rig rig;
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  const LeaseEpoch lease = rig.last_grant.epoch;
  rig.Finish(1, lease);
  rig.Do(Returned{{ExperimentId(2), lease}, "no space", true});
  const auto conclusions = rig.All<Conclude>();
  ASSERT_EQ(conclusions.size(), 1U);
  EXPECT_EQ(conclusions[0].outcome, plan::Outcome::kSkipped);
  EXPECT_THAT(conclusions[0].reason, HasSubstr("disturbed"));
  EXPECT_TRUE(rig.All<Requeue>().empty());
}

TEST(Units, ADrainGivesTheRoundBackOnce) {
  Rig rig;
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  const LeaseEpoch lease = rig.last_grant.epoch;
  rig.Do(SlotsChanged{WorkerId("w"), {[] {
                        SlotOffer slot = MakeSlot(0, kBoth);
                        slot.accepting = false;
                        return slot;
                      }()}});
  for (const int64_t id : {2, 1}) rig.Do(Returned{{ExperimentId(id), lease}, "drained", false});
  JoinWith(&rig, "v", kBoth);
  EXPECT_EQ(rig.Granted("v"), (Ids{1, 2}));
}

TEST(Units, AWorkerThatDiesInARoundGivesBothBack) {
  Rig rig;
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  rig.Do(Started{{ExperimentId(1), rig.last_grant.epoch}});
  rig.Do(WorkerDied{WorkerId("w"), {ExperimentId(1)}});
  JoinWith(&rig, "w", kBoth);
  EXPECT_EQ(rig.last_grant.experiments.size(), 2U);
}

TEST(Units, ALostSideEndsItsRound) {
  Options options;
  options.infrastructure_retries = 0;
  Rig rig(options);
  rig.Submit(1, Round(1, "a"));
  JoinWith(&rig, "w", kBoth);
  rig.Do(Returned{{ExperimentId(1), rig.last_grant.epoch}, "no space", true});
  const auto conclusions = rig.All<Conclude>();
  ASSERT_EQ(conclusions.size(), 2U);
  EXPECT_EQ(conclusions[0].outcome, plan::Outcome::kSkipped);
  EXPECT_EQ(conclusions[1].outcome, plan::Outcome::kLost);
}

}  // namespace
}  // namespace dynbench::scheduler

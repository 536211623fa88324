// Method: small nights whose best end can be worked out by hand.
#include "coordinator/scheduler/simulator.h"

#include "gmock/gmock.h"
#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

SimulatedNight NightOf(const std::vector<double>& seconds, int slots) {
  SimulatedNight night;
  night.assignment_s = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const auto id = static_cast<int64_t>(i + 1);
    night.tasks.push_back({MakeTask(id, "m" + std::to_string(id), seconds[i]), seconds[i]});
  }
  for (int s = 0; s < slots; ++s) {
    night.slots.push_back({WorkerId("w" + std::to_string(s)), MakeSlot(0)});
  }
  return night;
}

TEST(Simulator, TheGiantBeginsFirstAndTheRestFillsTheOtherSlots) {
  const Simulation s = Simulate(NightOf({10, 10, 10, 100, 10, 10, 10, 10, 10, 10}, 2));
  EXPECT_DOUBLE_EQ(s.makespan_s, 100);
  EXPECT_DOUBLE_EQ(s.lower_bound_s, 100);
  EXPECT_EQ(s.critical_model, "m4");
  EXPECT_NEAR(s.idle_share, 10.0 / 200, 1e-9);
  EXPECT_EQ(s.experiments, 10u);
  EXPECT_EQ(s.ran_on.size(), 10u);
}

TEST(Simulator, WhatTheSchedulerBelievesMayBeWrong) {
  SimulatedNight night = NightOf({10, 10, 10}, 2);
  night.tasks[2].task.expected_s = 1;  // thought to be short, begun last
  night.tasks[2].actual_s = 50;
  const Simulation s = Simulate(night);
  EXPECT_DOUBLE_EQ(s.makespan_s, 60);
  EXPECT_DOUBLE_EQ(s.lower_bound_s, 50);
}

TEST(Simulator, StaticShardsWaitForTheLongest) {
  SimulatedNight night = NightOf({40, 40, 1, 1}, 2);
  night.policy = plan::PartitionPolicy::kStatic;
  night.tasks[2].task.partition = night.tasks[3].task.partition = 1;
  EXPECT_DOUBLE_EQ(Simulate(night).makespan_s, 80);
  night.policy = plan::PartitionPolicy::kDynamic;
  EXPECT_DOUBLE_EQ(Simulate(night).makespan_s, 41);
}

TEST(Simulator, OneMoreSlotIsLikeTheFirstThatFits) {
  SimulatedNight night = NightOf({30, 30, 30}, 2);
  night.slots[0].offer.device = "cuda";
  EXPECT_DOUBLE_EQ(Simulate(night).makespan_s, 90);
  const SimulatedNight more = WithExtraSlots(night, 1);
  ASSERT_EQ(more.slots.size(), 3u);
  EXPECT_EQ(more.slots[2].offer.device, "cpu");
  EXPECT_DOUBLE_EQ(Simulate(more).makespan_s, 60);
  EXPECT_EQ(WithExtraSlots(NightOf({1}, 0), 2).slots.size(), 0u) << "like none";
}

TEST(Simulator, WhatCannotBePlacedIsToldAndDoesNotRun) {
  SimulatedNight night = NightOf({5, 5}, 1);
  night.tasks[1].task.environment = "nightly";
  const Simulation s = Simulate(night);
  EXPECT_EQ(s.experiments, 1u);
  ASSERT_EQ(s.unplaceable.size(), 1u);
  EXPECT_THAT(s.unplaceable[0], testing::HasSubstr("1 experiment: no known worker"));
  EXPECT_EQ(Simulate(NightOf({5}, 0)).unplaceable.size(), 1u);
}

// Row A40: 20 models of 1 to 200 s on 4 slots end within a tenth of the best bound.
TEST(Simulator, TwentyUnequalModelsEndTogether) {
  std::vector<double> seconds;
  for (int i = 1; i <= 20; ++i) seconds.push_back(i * 10);
  const Simulation s = Simulate(NightOf(seconds, 4));
  EXPECT_LE(s.makespan_s, 1.1 * s.lower_bound_s);
}

TEST(Simulator, TheSameInputGivesTheSameNight) {
  SimulatedNight night = NightOf({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, 3);
  const Simulation a = Simulate(night), b = Simulate(night);
  EXPECT_EQ(a.makespan_s, b.makespan_s);
  EXPECT_EQ(a.ran_on, b.ran_on);
}

TEST(Simulator, TheUpperEndOfTheMakespanIsThatOfDrawnNights) {
  SimulatedNight night = NightOf({10, 10, 10, 10}, 1);
  EXPECT_DOUBLE_EQ(MakespanP90(night), Simulate(night).makespan_s) << "nothing deviates";
  for (SimulatedTask& task : night.tasks) task.task.p90_s = 2 * task.task.expected_s;
  const double p90_s = MakespanP90(night, 200);
  EXPECT_GT(p90_s, 1.2 * 40);
  EXPECT_LT(p90_s, 2 * 40) << "four do not all take long in one night";
  EXPECT_DOUBLE_EQ(MakespanP90(night, 200), p90_s) << "the same seed, the same nights";
}

// Not a benchmark: when a step scans the fleet or the queue, the test's time limit ends it.
TEST(Simulator, AHundredThousandTasksOnAThousandWorkers) {
  SimulatedNight night = NightOf({}, Scaled(1'000));
  for (int64_t id = 1; id <= Scaled(100'000); ++id) {
    const double seconds = 1 + static_cast<double>(id * 7919 % 1000) / 10;
    SimulatedTask task{MakeTask(id, "m" + std::to_string(id), seconds), seconds};
    task.task.home = WorkerId("w" + std::to_string(id % Scaled(1'000)));
    night.tasks.push_back(task);
  }
  const Simulation s = Simulate(night);
  EXPECT_EQ(static_cast<int64_t>(s.experiments), Scaled(100'000));
  EXPECT_LE(s.makespan_s, 1.05 * s.lower_bound_s);
}

}  // namespace
}  // namespace dynbench::scheduler

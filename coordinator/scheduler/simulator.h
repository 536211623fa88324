// A night in virtual time: the real scheduler on described slots, with durations that are given
// beside those that it expects. Answers how long the night takes, what idles, and what one more
// slot would save. Pure, and the same for the same input.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/words.h"
#include "coordinator/scheduler/scheduler.h"

namespace dynbench::scheduler {

struct SimulatedTask {
  Task task;            // `expected_s`: what the scheduler believes
  double actual_s = 0;  // what it takes
};

struct SimulatedSlot {
  WorkerId worker;
  SlotOffer offer;
};

struct SimulatedNight {
  plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic;
  std::vector<SimulatedTask> tasks;
  std::vector<SimulatedSlot> slots;
  // From the end of one lease to the start of the next: decision, commit, message.
  double assignment_s = 0.005;
};

struct Simulation {
  double makespan_s = 0;
  double busy_s = 0;           // of all slots together
  double idle_share = 0;       // of slot time until the end
  double lower_bound_s = 0;    // max(longest, total / slots): no schedule is shorter
  std::string critical_model;  // that ended last
  size_t slots = 0;            // that take work
  size_t experiments = 0;      // that ran
  size_t moved = 0;            // away from the worker that measured their series before
  std::map<ExperimentId, SlotId> ran_on;
  std::vector<std::string> unplaceable;  // a line for each kind
};

Simulation Simulate(const SimulatedNight& night);

// The makespan that nine nights in ten do not exceed: of `nights` replicas in which each duration
// is drawn from a log-normal distribution with the task's median (`actual_s`) and 90 % quantile
// (`p90_s` over `expected_s`). Costs as many simulations; with more than kMostDrawn experiments in
// all, fewer nights are drawn, at least kLeastNights. The same for the same seed.
inline constexpr size_t kMostDrawn = 40'000;
inline constexpr size_t kLeastNights = 5;
double MakespanP90(const SimulatedNight& night, size_t nights = 20, uint64_t seed = 1);

// The night with `extra` further slots like the first that takes one of its tasks; the same night
// when none does. Each is a worker of its own.
SimulatedNight WithExtraSlots(SimulatedNight night, int extra);

}  // namespace dynbench::scheduler

// The experiments that have no result yet, as the scheduler sees them. Private to the scheduler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "coordinator/scheduler/queue.h"
#include "coordinator/scheduler/scheduler.h"

namespace dynbench::scheduler {

enum class TaskState { kWaiting, kLeased };  // a concluded one is forgotten

struct TaskRecord {
  Task task;
  int work_class = 0;
  TaskState state = TaskState::kWaiting;
  // kLeased: its live lease. kWaiting: the lapsed lease whose worker may still run it, or none.
  LeaseEpoch lease;
  bool started = false;
  MonotonicTime started_at;
  WorkerId last_worker;  // that it was leased to; cleared once its death was counted
  WorkerId avoid;        // where it came back from last, through no wish of a person
  // Where infrastructure failed it: slots, and workers as a whole (kEverySlot).
  std::set<SlotId> failed_on;
  std::set<SlotId> lost_devices;  // slots whose device failed it in the life of this process
  int crashes = 0;
  int infrastructure_failures = 0;
  MonotonicTime waiting_since;
  // kWaiting after an infrastructure failure: in no WaitingSet until then, and why.
  bool held = false;
  MonotonicTime held_until;
  std::string last_failure;
};

// The order in which jobs of one submitter are served: higher priority first, then as submitted.
// Between submitters of equal priority FairShare decides, and above both a deadline in danger.
struct JobOrder {
  int negative_priority = 0;
  int64_t queue_order = 0;
  JobId job;

  auto operator<=>(const JobOrder&) const = default;
};

struct Job {
  JobOrder order;
  std::string user;
  std::optional<MonotonicTime> deadline;
  int64_t unplaceable_grace_ns = 0;
  plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic;
  std::map<int, WaitingSet> waiting;  // by work class
  std::set<ExperimentId> leased;
  std::set<ExperimentId> tasks;  // all of it without a result
};

}  // namespace dynbench::scheduler

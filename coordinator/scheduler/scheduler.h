// The scheduler: who measures what, when. A pure core: Step(now, event) -> actions. It has no
// clock, thread, socket or SQL; the dispatcher (coordinator/session/dispatcher.h) feeds it and
// carries its actions out, committing each grant before the worker hears of it.
//
// Invariants, asserted after every step in debug builds and tests (CheckInvariants):
//   - a slot has at most one live lease, and an experiment is in at most one live lease;
//   - lease epochs strictly increase and never repeat, across restarts too (`first_epoch`);
//   - an experiment is waiting, leased or concluded, never two of these, never none;
//   - no slot that may take work is idle while something that it can run waits (what is held back
//     after an infrastructure failure does not count as waiting until its time has come).
//
// Who gets a free slot: the highest priority; in it a job whose deadline is in danger, the earliest
// first; then the submitter who had least (fair_share.h); then the job that was submitted first; in
// the job what matching.h and queue.h say.
//
// Thread-compatible: one thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/needs.h"
#include "common/plan/words.h"
#include "coordinator/scheduler/backoff.h"

namespace dynbench::scheduler {

struct Options {
  int64_t lease_ttl_ns = 120 * kNsPerSecond;  // past the last beat
  int crash_budget = 2;  // deaths of a worker during an experiment before it is failed as poison
  // Returns for infrastructure reasons that are forgiven; the next one makes the experiment lost.
  int infrastructure_retries = 2;
  size_t chunk_limit = 8;  // most experiments in one dynamic lease
  // A dynamic lease is filled up to this much expected time: an assignment costs milliseconds, so
  // programs that take less go out several at a time to the very end.
  double chunk_min_s = 1;
  LeaseEpoch first_epoch{1};  // above every epoch in the store
  Backoff backoff;            // between infrastructure failures
  int64_t fair_share_half_life_ns = 3600 * kNsPerSecond;
  // A deadline counts as in danger when this much of what is left, at the present share of slots,
  // would miss it: predictions are of typical nights.
  double deadline_margin = 1.25;
  // Equal infrastructure failures in a row that stop a slot, and how long failures are remembered.
  int cluster_limit = 3;
  int64_t cluster_window_ns = 3600 * kNsPerSecond;
  // How long an experiment waits for a worker that could run it to become known at all, and how
  // long when its environment is known, but lacks what the experiment is made of.
  int64_t unplaceable_grace_ns = 600 * kNsPerSecond;
  int64_t build_need_grace_ns = 10 * kNsPerSecond;
};

// What the scheduler needs to know of an experiment; the rest stays in the store.
struct Task {
  ExperimentId id;
  JobId job;
  std::string device;
  std::string environment;
  std::string profile;
  std::string model;      // experiments of one model are kept together where nothing is lost
  double expected_s = 0;  // prediction
  int partition = 0;
  int64_t queue_order = 0;  // original place; kept on retry
  plan::Needs needs = {};
  WorkerId home = {};  // that measured its series before; none: no preference
  // By which it is placed where more than `expected_s` has to be reckoned with; 0: `expected_s`.
  double place_s = 0;
  double p90_s = 0;  // of nine runs in ten; less than `expected_s`: as that
  // What happened before a restart of the coordinator, and counts.
  int crashes = 0;
  int infrastructure_failures = 0;
  // A round of a pair: tasks of one job and unit are leased together, to one slot, in their order,
  // and wait again together. One that could only wait again alone, since the other side has its
  // result, is skipped. `environment` and needs.environments are then the same in both. Empty:
  // none.
  std::string unit = {};
  // A unit goes nowhere else while this slot can take work that fits. No worker: anywhere.
  SlotId pinned = {};
  int rank = 0;  // of a unit: one of a lower rank goes first
  // Where infrastructure failed it before the restart, and the worker that it came back from last.
  // Whether a device or a host was to blame is not known any more: others are preferred, and no
  // device counts as lost.
  std::vector<SlotId> failed_on = {};
  WorkerId avoid = {};
};

struct SlotOffer {
  int index = 0;
  std::string device;                  // torch device type
  std::set<std::string> environments;  // names that this worker can run
  bool accepting = true;               // false: drained, quarantined or without space
  std::string reason = {};             // why not
  plan::Labels labels = {};            // of the worker and of this slot
  // By environment; one that is not named: nothing is known of it.
  std::map<std::string, plan::EnvironmentOffer> facts = {};
  // Of `environments`, those whose check fails there, with what was found. They are known, so that
  // experiments wait for them, and get no work.
  std::map<std::string, std::string> failing = {};
  int lanes = 1;  // experiments that it prepares side by side

  const plan::EnvironmentOffer& FactsOf(const std::string& environment) const;
  bool operator==(const SlotOffer&) const = default;
};

// A lease that a worker still holds when it says hello, with the experiments whose result has not
// been acknowledged: those that wait or run there, and those whose result is in its spool. One that
// is not named is taken to be lost there and waits again.
struct HeldLease {
  LeaseEpoch epoch;
  int slot = 0;
  std::vector<ExperimentId> experiments;
};

// ---- events ----
struct JobAdded {
  JobId job;
  plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic;
  int priority = 0;
  std::vector<Task> tasks;  // those that need running
  std::string user = {};
  std::optional<MonotonicTime> deadline = {};
  // Instead of Options::unplaceable_grace_ns; 0: what no known worker can run fails at once.
  std::optional<int64_t> unplaceable_grace_ns = {};
  int64_t place = 0;  // its place in the queue; 0: that of its first task
};
// Further tasks of a job, whether or not it still has any: the next rounds of its pairs.
struct TasksAdded {
  JobAdded job;
};
// What the store knew when the coordinator started: leases that were live then. Sent once, before
// any worker joins, after the JobAdded events. They are re-armed from `now`.
struct Recovered {
  struct Lease {
    LeaseEpoch epoch;
    SlotId slot;
    std::vector<ExperimentId> experiments;  // without a result
  };
  std::vector<Lease> leases;
};
struct WorkerJoined {
  WorkerId worker;
  std::vector<SlotOffer> slots;
  std::vector<HeldLease> held;  // adopted when not leased again elsewhere, else revoked
};
struct WorkerLeft {  // the stream ended; leases live on until they expire
  WorkerId worker;
};
// A lease that expires lapses: its experiments may be leased elsewhere, and only that fences it
// (Requeue for each one that is taken, before the new Grant). A worker that is heard again before,
// by a beat or by a hello that names the lease, keeps what nobody took.

// The worker's process is known to have died (a new process of the same identity said hello, or the
// worker itself reported it on restart): experiments that ran are requeued within the crash budget.
// The others of its leases stay until the WorkerJoined that follows says what is left of them.
struct WorkerDied {
  WorkerId worker;
  std::set<ExperimentId> running;  // these count against the budget; the others do not
};
struct Beat {
  WorkerId worker;
};
struct SlotsChanged {
  WorkerId worker;
  std::vector<SlotOffer> slots;
};
struct Started {
  AttemptId attempt;
};
// The attempt's result is committed and counts; whoever else holds the experiment is told to stop.
struct Finished {
  AttemptId attempt;
};
// The worker gives experiments of a lease back without a result (drain, slot trouble).
struct Returned {
  AttemptId attempt;
  std::string reason;
  bool infrastructure_failure = false;  // counts against the retries; after them: lost
  std::string signature = {};  // `reason` less what differs from case to case; empty: `reason`
  // It was ended at a learned limit of a phase: nothing is counted, and it goes elsewhere while
  // another worker could take it.
  bool phase_limit = false;
  // Of an infrastructure failure, the word for it ("no_space"), which is the experiment's status
  // when it is lost. One of the slot's device (plan::BlamesDevice) goes to another slot while one
  // can take it and is lost at once where none is known; any other, named or not, is one of the
  // whole worker.
  std::string status = {};
};
// A worker of which the store knows, while it is away: experiments may wait for it. Ignored when it
// has joined.
struct WorkerKnown {
  WorkerId worker;
  std::vector<SlotOffer> slots;
};
// The slot (-1: every one of the worker's, later ones too) takes no more work until it is released,
// whatever the worker offers. What has started there goes on; what has not waits again.
struct Quarantined {
  WorkerId worker;
  int slot = -1;
  std::string reason;
};
struct Released {
  WorkerId worker;
  int slot = -1;
};
struct JobCancelled {
  JobId job;
  std::string reason;
};
// The coordinator noticed that it did not run for a while: every lease is re-armed.
struct Resumed {};
struct Tick {};

using Event = std::variant<JobAdded, TasksAdded, Recovered, WorkerKnown, WorkerJoined, WorkerLeft,
                           WorkerDied, Beat, SlotsChanged, Quarantined, Released, Started, Finished,
                           Returned, JobCancelled, Resumed, Tick>;

// ---- actions ----
struct Grant {  // commit, then send
  LeaseEpoch epoch;
  SlotId slot;
  std::vector<ExperimentId> experiments;
  // Those whose series another worker measured before, with that worker: a break of affinity.
  std::map<ExperimentId, WorkerId> moved = {};
};
struct Revoke {  // tell the worker to stop these; late results of the epoch are superseded
  WorkerId worker;
  LeaseEpoch epoch;
  std::vector<ExperimentId> experiments;
  std::string reason;
};
struct Conclude {  // write a result that no worker brought
  ExperimentId experiment;
  plan::Outcome outcome = plan::Outcome::kLost;
  // "crash", "lost" or Returned::status, "cancelled", "unplaceable", "skipped"
  std::string status;
  plan::Blame blame = plan::Blame::kInfrastructure;
  std::string reason;
};
struct Requeue {  // the experiment waits again, at its original place
  ExperimentId experiment;
  LeaseEpoch fenced;  // the epoch that no longer counts
  std::string reason;
  // "crash", "infrastructure", "phase_limit": counts for the experiment; empty: for nothing.
  std::string cause = {};
};
struct CloseLease {  // nothing of it is left
  LeaseEpoch epoch;
};

// Decided here, for equal infrastructure failures; holds already, as Quarantined says.
struct Quarantine {
  SlotId slot;
  std::string reason;
};
// The same infrastructure failure on several workers: nobody is stopped for it.
struct ReportCluster {
  std::string reason;  // of the last one
  int failures = 0;
  int workers = 0;
};

using Action =
    std::variant<Grant, Revoke, Conclude, Requeue, CloseLease, Quarantine, ReportCluster>;

struct Eta {
  double p50_s = -1;
  double p90_s = -1;
};

class Scheduler {
 public:
  explicit Scheduler(Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Applies one event and returns what has to be done, in order.
  [[nodiscard]] std::vector<Action> Step(MonotonicTime now, const Event& event);

  // When time alone changes something (a lease expires, a retry is due, a wait for an unknown
  // worker is over); Step(Tick) is due then. Nothing to come: a day from `now`.
  MonotonicTime NextDeadline(MonotonicTime now) const;

  // Why `experiment` waits, in words: for how long, what goes before it, and per worker "slot 0 is
  // busy with …", "has no pool=a100 …". Empty when it does not wait. `now`: as of then, else as of
  // the last step.
  std::vector<std::string> ExplainWaiting(ExperimentId experiment,
                                          std::optional<MonotonicTime> now = {}) const;

  // What no known worker could run, had it these tasks: the same words as the conclusion
  // "unplaceable", one line for each kind with the number of tasks. Changes nothing.
  std::vector<std::string> Unplaceable(const std::vector<Task>& tasks) const;

  // Expected seconds until `job` is done, from predictions and the slots that can take it; negative
  // when no slot can. What it costs does not grow with what waits. The 90 % quantile takes
  // durations as independent: deviations add up as squares, so that many experiments narrow it.
  Eta EtaOf(JobId job, MonotonicTime now) const;

  // Aborts when an invariant does not hold.
  void CheckInvariants() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynbench::scheduler

// Connects the pure scheduler with the world: one thread that owns the Scheduler and feeds it with
// what workers, clients and the clock bring, and carries its actions out in the only safe order:
//
//   Grant          -> store, commit, then Lease to the worker (which may have left: then the
//                     experiments are given back to the scheduler)
//   AttemptFinished-> store, commit, then acknowledge to the worker, and, when it counts, Finished
//   Revoke         -> to the worker at once; out of a Grant that is still being committed
//   Conclude, Requeue, CloseLease -> store
//
// Every change of the store goes through Ingest in the order in which it was decided here, so the
// store never sees a lease of an experiment before the requeue that made it possible.
//
// The loop and the store's writer are handed in, so that all of this also runs in simulated time
// (tests/simulation); whatever decides takes its time from the loop.
//
// All public functions are thread-safe and do not block, except Start, Stop and the questions,
// which wait at most kAnswerTime. Nothing of it may be called after Stop but the destructor.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/plan/experiment.h"
#include "coordinator/ingest/ingest.h"
#include "coordinator/scheduler/scheduler.h"
#include "coordinator/session/change_feed.h"
#include "coordinator/session/environment_keeper.h"
#include "coordinator/session/event_loop.h"
#include "coordinator/session/fleet.h"
#include "coordinator/session/holds.h"
#include "coordinator/session/live_jobs.h"
#include "coordinator/session/log_relay.h"
#include "coordinator/session/observer.h"
#include "coordinator/session/pair_jobs.h"
#include "coordinator/session/phase_history.h"
#include "coordinator/session/predictions.h"
#include "coordinator/session/slot_times.h"

namespace dynbench::session {

struct DispatcherOptions {
  int64_t beat_interval_ns = 5 * kNsPerSecond;
  int64_t lease_ttl_ns = 120 * kNsPerSecond;
  int crash_budget = 2;
  // How long a hello waits for the old stream of the same worker id to end before it is refused.
  int64_t duplicate_grace_ns = kNsPerSecond;
  // Of jobs that do not say (scheduler::Options).
  int64_t unplaceable_grace_ns = scheduler::Options().unplaceable_grace_ns;
  scheduler::Backoff backoff = {};  // between infrastructure failures of an experiment
};

// A job that was committed, with its experiments that need running.
struct AddedJob {
  v1::Job job;  // coverage: what is done already (skipped)
  plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic;
  int priority = 0;
  std::vector<std::string> require;
  int64_t deadline_unix_ms = 0;      // 0: none
  int64_t unplaceable_grace_s = -1;  // -1: the scheduler's
  // Parallel: those without a result. Made by Append, before the ids are known, so that neither the
  // writer nor the dispatcher spends its time on it.
  std::vector<LiveExperiment> live;
  std::vector<scheduler::Task> tasks;
  // Of a pair job: parallel to the others; `request` is then the job's.
  std::vector<PairMember> pairs;
  plan::Request request;
  // Of a job with a suite of its own: what its file says.
  std::optional<TypicalCompile> typical_compile = std::nullopt;

  // Takes over what of the request concerns the scheduler. Before Append.
  void TakeFrom(const plan::Request& request);
  void Append(const plan::Experiment& experiment, const Predictions& predictions);
  void Identify(size_t index, JobId job_id, ExperimentId id);
};

struct JobView {
  bool open = false;  // false: not known here (finished); the rest is empty then
  v1::Coverage coverage;
  scheduler::Eta eta;
  std::vector<std::string> waiting_reasons;
};
struct FleetView {
  std::vector<v1::Worker> workers;  // connected
  plan::FleetFacts facts;
  int slots = 0, busy_slots = 0;
  // Environments per worker and slot, for "what could run where".
  std::map<WorkerId, std::vector<scheduler::SlotOffer>> offers;
};
struct Totals {
  int64_t open_jobs = 0, waiting = 0, running = 0;
};

class Dispatcher {
 public:
  static constexpr std::chrono::milliseconds kAnswerTime{2000};

  // All pointers outlive this object. `observer` may be null.
  Dispatcher(DispatcherOptions options, ingest::Writer* ingest, ChangeFeed* feed,
             Predictions* predictions, SessionObserver* observer,
             std::unique_ptr<EventLoop> loop = std::make_unique<ThreadedEventLoop>());
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Takes up the store's unfinished jobs and live leases and begins to dispatch.
  absl::Status Start(store::Database& reader);
  // Sends Restarting to every worker and ends the streams; leases live on in the store.
  void AnnounceRestart(int64_t expected_ms);
  void Stop();
  // Aborts when an invariant of the scheduler does not hold. On the loop's thread only.
  void CheckInvariants() const { scheduler_->CheckInvariants(); }

  const DispatcherOptions& options() const { return options_; }

  // ---- worker sessions ----
  // `welcome` says OK or DEGRADED; a duplicate id makes it REFUSED.
  void Hello(std::shared_ptr<WorkerLink> link, v1::Hello hello, v1::Welcome welcome);
  void Message(std::shared_ptr<WorkerLink> link, WorkerId worker, v1::WorkerMessage message);
  void Left(std::shared_ptr<WorkerLink> link, WorkerId worker);

  // ---- control ----
  // `done` runs on the dispatcher's thread, after the first grants were decided.
  void AddJob(AddedJob job, std::function<void()> done);
  // `done` runs once everything that the cancellation decided is committed, with the status of the
  // cancellation itself.
  void CancelJob(JobId job, std::string reason, std::function<void(const absl::Status&)> done);
  // The follower hears the log of the running attempt, or of the next one, until the experiment has
  // its result; at once End() when it has one already.
  void FollowLog(ExperimentId experiment, std::shared_ptr<LogFollower> follower);
  void UnfollowLog(ExperimentId experiment, std::shared_ptr<LogFollower> follower);

  // ---- operators ----
  using WorkerAnswer = std::function<void(absl::StatusOr<v1::Worker>)>;
  // Each is kept in the store first. `worker` is an id, or the name of a host with one worker.
  // FailedPrecondition: not connected, or no such slot. InvalidArgument: no reason.
  // What runs may end within `deadline_ms`; then it is given back. Drained again: replaced.
  void DrainWorker(std::string worker, int64_t deadline_ms, std::string reason, WorkerAnswer done);
  // Every slot, or this one. A slot that its own worker quarantined is checked again.
  void ReleaseWorker(std::string worker, std::optional<int> slot, WorkerAnswer done);
  void QuarantineWorker(std::string worker, std::optional<int> slot, std::string reason,
                        WorkerAnswer done);
  // A result that did not come through its worker's stream. NotFound: no such attempt was ever
  // leased here. `done` runs after the commit.
  using Imported = std::function<void(absl::StatusOr<store::Acceptance>)>;
  void ImportResult(v1::AttemptFinished finished, Imported done);
  // Commits where slot time went until now.
  void FlushActivity(std::function<void(const absl::Status&)> done);

  // ---- environments of the fleet (dispatcher_environments.cc; rules: environment_keeper.h) ----
  // Each answers after the commit. `worker`: id, or the name of a host with one worker; or empty.
  using EnvironmentAnswer = std::function<void(absl::StatusOr<v1::FleetEnvironment>)>;
  void BuildEnvironment(std::string recipe_json, std::string worker, EnvironmentAnswer done);
  void DeriveEnvironment(v1::DeriveEnvironmentRequest request, EnvironmentAnswer done);
  void DropEnvironments(std::vector<std::string> ids, std::string reason,
                        std::function<void(const absl::Status&)> done);

  // ---- questions; Unavailable when the dispatcher does not answer within kAnswerTime ----
  // ETA and coverage of each job, in order; reasons only when asked for, at most 10 lines a job.
  absl::StatusOr<std::vector<JobView>> ViewJobs(std::vector<JobId> jobs, bool with_reasons);
  // Phases of those that run, by id.
  absl::StatusOr<std::map<ExperimentId, std::string>> ViewPhases(JobId job);
  absl::StatusOr<std::vector<std::string>> ExplainWaiting(ExperimentId experiment);
  absl::StatusOr<FleetView> ViewFleet();
  // What of these no worker that is known could run, a line for each kind.
  absl::StatusOr<std::vector<std::string>> ViewUnplaceable(std::vector<scheduler::Task> tasks);
  absl::StatusOr<Totals> ViewTotals();
  absl::StatusOr<std::vector<v1::FleetEnvironment>> ViewEnvironments(bool with_removed);
  absl::StatusOr<v1::GetEnvironmentLogReply> ViewEnvironmentLog(std::string id, int64_t offset);

 private:
  struct PendingGrant {
    SlotId slot;
    std::set<ExperimentId> dropped;  // revoked or requeued before the commit
    std::vector<ExperimentId> experiments;
    MonotonicTime decided_at;
  };
  struct PendingResult;

  template <typename T>
  absl::StatusOr<T> Ask(std::function<T()> question);
  MonotonicTime now() const { return loop_->now(); }
  // Also in changes of the store, which run on the writer's thread.
  UnixTimeMs unix_now() const { return loop_->unix_now(); }

  // Life (dispatcher.cc)
  // `requests`, `rows` (of pair jobs): of the jobs of `work`, in order.
  void Recover(const store::OpenWork& work, const std::vector<plan::Request>& requests,
               const std::vector<std::vector<store::ResultRow>>& rows);
  scheduler::JobAdded ToEvent(JobId id, AddedJob& job);

  // Pairs (dispatcher_pairs.cc)
  // What of the job the scheduler gets at once; the rest of a pair job waits for its rounds' turn.
  void Schedule(JobId id, AddedJob& job);
  // After a restart: with what the store has of the job.
  void ResumePairs(JobId id, AddedJob& job, const std::vector<store::ResultRow>& rows,
                   const std::vector<ExperimentId>& leased);
  void RecordRound(const LiveExperiment& live, const v1::Result& result, LeaseEpoch lease,
                   double seconds);
  void AdvancePairs(JobId job);
  // Of one that has ended: noise floors from an A/A run.
  void LearnFrom(JobId job);
  void CommitNoise(JobId job);
  void Drop(const std::vector<PairJobs::Dropped>& dropped);
  MonotonicTime Turn(MonotonicTime now);
  void Resumed(MonotonicTime now, int64_t gap_ns);
  void KeepBeats(MonotonicTime now);
  void PublishDirtyJobs(MonotonicTime now);

  // Workers (dispatcher_workers.cc)
  void OnHello(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello, v1::Welcome welcome,
               bool waited);
  void Admit(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello, bool degraded);
  void OnMessage(const std::shared_ptr<WorkerLink>& link, const WorkerId& worker,
                 v1::WorkerMessage& message);
  void OnReturned(const v1::AttemptReturned& message);
  void OnBeat(ConnectedWorker& worker, const v1::WorkerBeat& beat);
  void OnStarted(const WorkerId& worker, const AttemptId& attempt, UnixTimeMs started_at);
  void OnPhase(const v1::PhaseChanged& phase);
  void OnFinished(const WorkerId& worker, v1::AttemptFinished& finished, Imported imported);
  void OnResultCommitted(const std::shared_ptr<PendingResult>& result, const absl::Status& status);
  // Tells the worker that the store has it. Those that take groups get one message for all that a
  // turn of the loop has: a message costs more than what it says.
  void Acknowledge(const WorkerId& worker, const AttemptId& attempt);
  void SendAcknowledgements();
  void OnLog(const v1::LogChunk& chunk);
  void OnSlots(ConnectedWorker& worker);
  void Leave(const WorkerId& worker);
  void WatchLog(const LiveExperiment& experiment, bool watch);

  // Operators, health and slot time (dispatcher_operations.cc)
  absl::StatusOr<ConnectedWorker*> FindNamed(const std::string& name);
  // Stores `change`, then runs `apply` here (with nullptr when the worker has left meanwhile) and
  // answers how the worker is then.
  void Decide(const WorkerId& worker, const ingest::Change& change,
              std::function<void(ConnectedWorker*)> apply, WorkerAnswer done);
  // What the worker's slots offer, with everything that holds them.
  std::vector<scheduler::SlotOffer> OffersOf(const ConnectedWorker& worker) const;
  std::map<int, std::string> StatesOf(const ConnectedWorker& worker) const;
  // After something that holds slots of the worker has changed.
  void OffersChanged(const ConnectedWorker& worker);
  void SendDrain(const ConnectedWorker& worker);
  // A drain that outlived a connection is told again; one that was lifted meanwhile, too.
  void RepeatHolds(const ConnectedWorker& worker);
  // Until the slot's checks pass, or it is released.
  void Quarantine(const SlotId& slot, const std::string& reason);
  void OnPreflight(ConnectedWorker& worker, const v1::PreflightReport& report);
  void OnActivity(const ConnectedWorker& worker, const v1::SlotActivity& activity);
  void KeepSlotTimes(bool open);
  // What runs on each slot, by name.
  std::map<SlotId, std::string> Busy() const;
  v1::Worker DescribeWorker(const ConnectedWorker& worker,
                            const std::map<SlotId, std::string>& busy) const;

  // Environments (dispatcher_environments.cc)
  EnvironmentKeeper::Services KeeperServices();
  absl::StatusOr<WorkerId> NamedOrAny(const std::string& worker);
  void AnswerEnvironment(absl::StatusOr<v1::FleetEnvironment> environment, EnvironmentAnswer done);

  // Actions (dispatcher_actions.cc)
  void Feed(const scheduler::Event& event);
  void CarryOut(const scheduler::Grant& grant);
  void CarryOut(const scheduler::Revoke& revoke);
  void CarryOut(const scheduler::Conclude& conclude);
  void CarryOut(const scheduler::Requeue& requeue);
  void CarryOut(const scheduler::CloseLease& close);
  void CarryOut(const scheduler::Quarantine& quarantine);
  void CarryOut(const scheduler::ReportCluster& cluster);
  void OnGrantCommitted(LeaseEpoch epoch, const absl::Status& status);
  void SendLease(const ConnectedWorker& worker, LeaseEpoch epoch, int slot,
                 const std::vector<ExperimentId>& experiments);
  void AddPhaseLimits(const LiveExperiment& live, v1::PlannedExperiment* planned) const;
  void GiveBack(LeaseEpoch epoch, const std::vector<ExperimentId>& experiments,
                const std::string& reason);
  void DropFromPending(LeaseEpoch epoch, ExperimentId experiment);
  // Commits `change`; tries again for ever when the store cannot (full disk), since the scheduler
  // has decided. A logical refusal (NotFound, AlreadyExists, FailedPrecondition) is not retried.
  // `lazily`: what a crash may forget (ingest::Writer::ApplyLazily).
  void Commit(const std::string& what, const ingest::Change& change,
              const std::function<void()>& committed, bool lazily = false);
  // `lease`: under which a worker measured it, in `seconds` on its slot; none: no worker did.
  void Conclude(ExperimentId experiment, const v1::Result& result, LeaseEpoch lease = {},
                double seconds = 0);
  void PublishRow(const LiveExperiment& experiment);

  // Questions (dispatcher_views.cc)
  // A worker that is not there, with how long it was not heard, as a clause for people.
  std::string Away(const WorkerId& worker) const;
  scheduler::Eta EtaOf(JobId job) const;
  size_t SlotsOfPairs() const;  // that take work now; at least 1
  std::vector<std::string> ReasonsOf(const LiveJob& job);
  v1::Job Describe(const LiveJob& job);

  const DispatcherOptions options_;
  ingest::Writer* const ingest_;
  ChangeFeed* const feed_;
  Predictions* const predictions_;
  SessionObserver* const observer_;

  // Owned by the loop's thread.
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  Fleet fleet_;
  LiveJobs live_;
  PairJobs pairs_;
  PhaseHistory phase_history_;
  LogRelay relay_;
  Holds holds_;
  SlotTimes slot_times_;
  EnvironmentKeeper environments_;
  MonotonicTime next_open_spans_;
  std::map<LeaseEpoch, PendingGrant> pending_grants_;
  std::map<WorkerId, std::vector<AttemptId>> acknowledged_;  // not yet told
  std::set<SlotId> stopped_slots_;                           // by the scheduler, for equal failures
  std::set<JobId> dirty_;
  MonotonicTime started_at_;
  int results_not_stored_ = 0;  // in a row
  MonotonicTime next_beat_;
  MonotonicTime next_publish_;  // of changed jobs to their watchers

  // Last: its thread uses all of the above.
  const std::unique_ptr<EventLoop> loop_;
};

}  // namespace dynbench::session

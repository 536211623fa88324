#include "coordinator/session/dispatcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/plan/needs.h"
#include "common/plan/pairs.h"
#include "common/store/environments.h"
#include "common/store/holds.h"
#include "common/store/slot_time.h"
#include "coordinator/session/known_workers.h"
#include "coordinator/session/learn_noise.h"
#include "coordinator/session/rows.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

// A turn that comes this late means that the process was stopped or starved. A quarter of a lease's
// life leaves workers three quarters of it to be heard again.
int64_t PauseThresholdNs(const DispatcherOptions& options) {
  return std::clamp(options.lease_ttl_ns / 4, 250 * kNsPerMs, 5 * kNsPerSecond);
}

// How long a pair waits for a worker with both its environments.
constexpr int64_t kPairGraceSeconds = 10;

constexpr int kMissedBeats = 3;  // then a stream counts as dead
// Watchers hear of a job's progress that often; to describe a job looks at its open experiments,
// which is too much for every single result. The end of a job is told at once.
constexpr int64_t kPublishEveryNs = 100 * kNsPerMs;

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options, ingest::Writer* ingest, ChangeFeed* feed,
                       Predictions* predictions, SessionObserver* observer,
                       std::unique_ptr<EventLoop> loop)
    : options_(options),
      ingest_(ingest),
      feed_(feed),
      predictions_(predictions),
      observer_(observer),
      environments_(KeeperServices()),
      loop_(std::move(loop)) {}

Dispatcher::~Dispatcher() { Stop(); }

absl::Status Dispatcher::Start(store::Database& reader) {
  ASSIGN_OR_RETURN(store::OpenWork work, store::LoadOpenWork(reader));
  ASSIGN_OR_RETURN(const auto durations, store::LoadDurations(reader));
  predictions_->Load(durations);
  phase_history_.Load(durations);
  std::vector<plan::Request> requests;
  for (const store::JobRow& job : work.jobs) {
    ASSIGN_OR_RETURN(requests.emplace_back(), store::GetRequest(reader, job.id));
  }
  std::vector<std::vector<store::ResultRow>> rows(work.jobs.size());
  for (size_t i = 0; i < work.jobs.size(); ++i) {
    if (!plan::IsPairJob(requests[i])) continue;
    ASSIGN_OR_RETURN(rows[i], store::ListResults(reader, work.jobs[i].id, ExperimentId(), 0,
                                                 /*with_samples=*/false));
  }
  ASSIGN_OR_RETURN(const auto workers, store::ListWorkers(reader));
  ASSIGN_OR_RETURN(const auto slots, store::ListSlots(reader));
  ASSIGN_OR_RETURN(const store::HoldRows holds, store::LoadHolds(reader));
  holds_.Load(holds);
  ASSIGN_OR_RETURN(const auto spans, store::LastSpans(reader));
  slot_times_.Load(spans);
  ASSIGN_OR_RETURN(const auto environments, store::LoadFleetEnvironments(reader));
  environments_.Load(environments);
  scheduler::Options options;
  options.lease_ttl_ns = options_.lease_ttl_ns;
  options.crash_budget = options_.crash_budget;
  options.unplaceable_grace_ns = options_.unplaceable_grace_ns;
  options.backoff = options_.backoff;
#ifndef DYNBENCH_PLANT_EPOCH_RESTART  // a planted bug: docs/reliability.md, "Simulation"
  options.first_epoch = LeaseEpoch(work.last_epoch.value + 1);
#endif
  scheduler_ = std::make_unique<scheduler::Scheduler>(options);
  started_at_ = now();
  next_beat_ = now() + options_.beat_interval_ns;
  for (const scheduler::WorkerKnown& known : KnownWorkers(workers, slots, unix_now(), holds)) {
    Feed(known);
  }
  Recover(work, requests, rows);
  ASSIGN_OR_RETURN(const auto unlearned, CalibrationsToLearn(reader));
  for (const JobId job : unlearned) CommitNoise(job);
  loop_->Start(PauseThresholdNs(options_),
               {[this](MonotonicTime now) { return Turn(now); },
                [this](MonotonicTime now, int64_t gap_ns) { Resumed(now, gap_ns); }});
  return absl::OkStatus();
}

void Dispatcher::Stop() { loop_->Stop(); }

void Dispatcher::Recover(const store::OpenWork& work, const std::vector<plan::Request>& requests,
                         const std::vector<std::vector<store::ResultRow>>& rows) {
  std::map<JobId, std::vector<const store::OpenExperiment*>> by_job;
  for (const auto& open : work.experiments) by_job[open.job].push_back(&open);
  std::map<LeaseEpoch, scheduler::Recovered::Lease> leases;
  for (size_t i = 0; i < work.jobs.size(); ++i) {
    const store::JobRow& row = work.jobs[i];
    AddedJob job;
    job.job = ToProto(row);
    job.TakeFrom(requests[i]);
    for (const store::OpenExperiment* open : by_job[row.id]) {
      job.Append(open->experiment, *predictions_);
      job.Identify(job.live.size() - 1, row.id, open->id);
      job.tasks.back().crashes = open->crashes;
      job.tasks.back().infrastructure_failures = open->infrastructure_failures;
      job.tasks.back().failed_on = open->failed_on;
      job.tasks.back().avoid = open->avoid;
      job.live.back().whole_timeout = open->phase_limits > 0;
      if (!open->lease) continue;
      LiveExperiment& experiment = job.live.back();
      experiment.lease = open->lease;
      experiment.worker = open->slot.worker;
      experiment.slot = open->slot.index;
      experiment.running = open->started;
      experiment.attempts = open->started ? 1 : 0;
      scheduler::Recovered::Lease& lease = leases[open->lease];
      lease.epoch = open->lease;
      lease.slot = open->slot;
      lease.experiments.push_back(open->id);
    }
    std::vector<ExperimentId> leased;
    for (const LiveExperiment& live : job.live) {
      if (live.lease && !job.pairs.empty()) leased.push_back(live.id);
    }
    live_.Add(v1::Job(job.job), std::move(job.live));
    if (job.pairs.empty()) {
      Feed(ToEvent(row.id, job));
    } else {
      ResumePairs(row.id, job, rows[i], leased);
    }
  }
  scheduler::Recovered recovered;
  for (auto& [epoch, lease] : leases) recovered.leases.push_back(std::move(lease));
  if (!work.jobs.empty()) {
    spdlog::info("takes up {} jobs with {} unfinished experiments and {} live leases",
                 work.jobs.size(), work.experiments.size(), recovered.leases.size());
  }
  Feed(recovered);
  // A cancellation whose consequences were not committed yet is carried out again.
  for (const store::JobRow& row : work.jobs) {
    if (row.cancel_reason.empty()) continue;
    Feed(scheduler::JobCancelled{row.id, row.cancel_reason});
    Drop(pairs_.Cancel(row.id, row.cancel_reason));
  }
}

scheduler::JobAdded Dispatcher::ToEvent(JobId id, AddedJob& job) {
  scheduler::JobAdded event{id, job.policy, job.priority, std::move(job.tasks)};
  event.user = job.job.user();
  if (job.deadline_unix_ms != 0) {
    event.deadline = now() + (job.deadline_unix_ms - unix_now().ms) * kNsPerMs;
  }
  if (job.unplaceable_grace_s >= 0) {
    event.unplaceable_grace_ns = job.unplaceable_grace_s * kNsPerSecond;
  }
  return event;
}

void AddedJob::TakeFrom(const plan::Request& request) {
  policy = request.policy;
  priority = request.priority;
  require = request.require;
  deadline_unix_ms = request.deadline_unix_ms;
  unplaceable_grace_s = request.unplaceable_grace_s;
  typical_compile = TypicalCompile::OfOwnSuite(request);
  if (!plan::IsPairJob(request)) return;
  this->request = request;
  // Its rounds are leased one by one.
  policy = plan::PartitionPolicy::kDynamic;
  // Who asks for two builds has them somewhere, or has mistyped one.
  if (unplaceable_grace_s < 0) unplaceable_grace_s = kPairGraceSeconds;
}

void AddedJob::Append(const plan::Experiment& e, const Predictions& predictions) {
  live.push_back(MakeLive(e));
  scheduler::Task& task = tasks.emplace_back();
  task.device = e.device;
  task.environment = e.environment;
  task.profile = e.profile;
  task.model = e.model;
  const Prediction prediction =
      predictions.Predict(e, typical_compile ? &*typical_compile : nullptr);
  live.back().compile_weight = prediction.compile_weight;
  task.expected_s = prediction.p50_s;
  task.place_s = prediction.place_s;
  task.p90_s = prediction.p90_s;
  task.partition = e.partition;
  task.needs = plan::NeedsOf(e, require);
  task.home = predictions.Home(e);
  if (plan::IsPairJob(request)) {
    task.environment = request.base;
    task.needs = plan::NeedsOf(e, request);
    pairs.push_back(
        {{}, e.pair, e.round, e.side == plan::kNewSide, e.test == plan::Test::kPerformance, {}});
  }
  std::vector<std::string> needs = task.needs.requirements;
  needs.insert(needs.end(), task.needs.capabilities.begin(), task.needs.capabilities.end());
  live.back().needs = absl::StrJoin(needs, ", ");
}

void AddedJob::Identify(size_t index, JobId job_id, ExperimentId id) {
  live[index].id = id;
  live[index].job = job_id;
  tasks[index].id = id;
  tasks[index].job = job_id;
  tasks[index].queue_order = id.value;  // ids are given in plan order
  if (pairs.empty()) return;
  pairs[index].id = id;
  pairs[index].task = tasks[index];
}

void Dispatcher::AddJob(AddedJob job, std::function<void()> done) {
  auto shared = std::make_shared<AddedJob>(std::move(job));
  loop_->Post([this, shared, done = std::move(done)] {
    if (!shared->live.empty()) {
      const JobId id(shared->job.id());
      live_.Add(v1::Job(shared->job), std::move(shared->live));
      Schedule(id, *shared);
    }
    done();
  });
}

void Dispatcher::CancelJob(JobId job, std::string reason,
                           std::function<void(const absl::Status&)> done) {
  const auto mark = [this, job, reason](store::Database& db) {
    return store::MarkCancelled(db, job, reason, unix_now());
  };
  ingest_->Apply(mark, [this, job, reason = std::move(reason),
                        done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) return done(status);
    loop_->Post([this, job, reason, done] {
      if (LiveJob* live = live_.FindJob(job)) {
        live->job.set_cancel_reason(reason);
        dirty_.insert(job);
      }
      Feed(scheduler::JobCancelled{job, reason});
      Drop(pairs_.Cancel(job, reason));
      // Changes are applied in order: when this one is committed, those before it are.
      ingest_->Apply([](store::Database&) { return absl::OkStatus(); }, done);
    });
  });
}

void Dispatcher::Resumed(MonotonicTime now, int64_t gap_ns) {
  spdlog::warn("did not run for {:.1f} s; leases and streams get their full time again",
               static_cast<double>(gap_ns) / kNsPerSecond);
  for (auto& [id, worker] : fleet_.workers()) worker.last_heard = now;
  Feed(scheduler::Resumed{});
}

MonotonicTime Dispatcher::Turn(MonotonicTime now) {
  if (scheduler_->NextDeadline(now) <= now) Feed(scheduler::Tick{});
  if (now >= next_beat_) KeepBeats(now);
  PublishDirtyJobs(now);
  const MonotonicTime deadline = std::min(scheduler_->NextDeadline(now), next_beat_);
  return dirty_.empty() ? deadline : std::min(deadline, next_publish_);
}

void Dispatcher::KeepBeats(MonotonicTime now) {
  next_beat_ = now + options_.beat_interval_ns;
  std::vector<WorkerId> silent;
  for (auto& [id, worker] : fleet_.workers()) {
    if (now - worker.last_heard > kMissedBeats * options_.beat_interval_ns) {
      silent.push_back(id);
      continue;
    }
    v1::CoordinatorMessage message;
    message.mutable_beat();
    worker.link->Send(std::move(message));
  }
  KeepSlotTimes(now >= next_open_spans_);
  for (const WorkerId& id : silent) {
    spdlog::warn("worker {} sent no beat for {:.1f} s; its stream is ended, its leases live on",
                 id.value, static_cast<double>(now - fleet_.Find(id)->last_heard) / kNsPerSecond);
    fleet_.Find(id)->link->Abort();
    Leave(id);
  }
}

void Dispatcher::PublishDirtyJobs(MonotonicTime now) {
  const bool due = now >= next_publish_;
  for (auto it = dirty_.begin(); it != dirty_.end();) {
    const JobId id = *it;
    LiveJob* live = live_.FindJob(id);
    const bool watched = live != nullptr && feed_->HasWatchers(id);
    const bool finished = live != nullptr && live->finished();
    if (watched && !finished && !due) {
      ++it;
      continue;
    }
    if (finished) {
      live->job.set_state(live->job.cancel_reason().empty() ? "finished" : "cancelled");
      live->job.set_finished_unix_ms(unix_now().ms);
    }
    if (watched) {
      feed_->PublishJob(Describe(*live), finished);
      next_publish_ = now + kPublishEveryNs;
    }
    it = dirty_.erase(it);
    if (!finished) continue;
    live_.RemoveJob(id);
    LearnFrom(id);
    pairs_.Remove(id);
  }
}

void Dispatcher::AnnounceRestart(int64_t expected_ms) {
  loop_->Post([this, expected_ms] {
    KeepSlotTimes(/*open=*/true);
    for (auto& [id, worker] : fleet_.workers()) {
      v1::CoordinatorMessage message;
      message.mutable_restarting()->set_expected_ms(expected_ms);
      worker.link->Send(std::move(message));
      worker.link->Close("the coordinator restarts; reconnect");
    }
    relay_.EndAll();
  });
}

}  // namespace dynbench::session

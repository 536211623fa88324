// What workers say. See dispatcher.h for the order of things.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/formats/error_clusters.h"
#include "coordinator/session/dispatcher.h"
#include "proto/dynbench/convert.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

// After a result could not be stored, until its worker is asked for it again.
constexpr int64_t kFirstResendNs = kNsPerSecond;
constexpr int64_t kLongestResendNs = 30 * kNsPerSecond;

}  // namespace

// One AttemptFinished on its way through the store.
struct Dispatcher::PendingResult {
  AttemptId attempt;
  WorkerId worker;
  plan::Result result;
  v1::Result message;
  std::string log;
  UnixTimeMs started_at, finished_at;
  MonotonicTime arrived_at;
  store::Acceptance acceptance = store::Acceptance::kDuplicate;
  Imported imported;  // brought by hand
};

void Dispatcher::Hello(std::shared_ptr<WorkerLink> link, v1::Hello hello, v1::Welcome welcome) {
  auto shared = std::make_shared<v1::Hello>(std::move(hello));
  loop_->Post([this, link = std::move(link), shared, welcome = std::move(welcome)] {
    OnHello(link, *shared, welcome, /*waited=*/false);
  });
}

void Dispatcher::Message(std::shared_ptr<WorkerLink> link, WorkerId worker,
                         v1::WorkerMessage message) {
  auto shared = std::make_shared<v1::WorkerMessage>(std::move(message));
  loop_->Post([this, link = std::move(link), worker = std::move(worker), shared] {
    OnMessage(link, worker, *shared);
  });
}

void Dispatcher::Left(std::shared_ptr<WorkerLink> link, WorkerId worker) {
  loop_->Post([this, link = std::move(link), worker = std::move(worker)] {
    const ConnectedWorker* current = fleet_.Find(worker);
    if (current == nullptr || current->link != link) return;
    spdlog::info("worker {} left; its leases live on for {:.0f} s past its last beat", worker.value,
                 static_cast<double>(options_.lease_ttl_ns) / kNsPerSecond);
    Leave(worker);
  });
}

void Dispatcher::OnHello(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello,
                         v1::Welcome welcome, bool waited) {
  if (link->closed()) return;
  const WorkerId id(hello.worker_id());
  if (ConnectedWorker* old = fleet_.Find(id)) {
    const bool same_process = old->hello.process_start_unix_ms() == hello.process_start_unix_ms();
    if (!same_process && !old->link->closed() && !waited) {
      // The end of a killed worker's stream may still be on its way.
      loop_->PostAfter(options_.duplicate_grace_ns, [this, link, hello, welcome] {
        OnHello(link, hello, welcome, /*waited=*/true);
      });
      return;
    }
    if (!same_process && !old->link->closed()) {
      welcome.set_verdict(v1::Welcome::REFUSED);
      welcome.set_reason(absl::StrCat(
          "a worker with the id ", id.value, " is connected from host ", old->hello.host(),
          "; two workers must not share a state folder: give this one its own --state-dir, or "
          "remove identity.json from the copied one"));
      v1::CoordinatorMessage message;
      *message.mutable_welcome() = std::move(welcome);
      link->Send(std::move(message));
      link->Close("refused: duplicate worker id");
      return;
    }
    old->link->Close("replaced by a newer stream of the same worker");
    Leave(id);
  }
  v1::CoordinatorMessage message;
  const bool degraded = welcome.verdict() == v1::Welcome::DEGRADED;
  *message.mutable_welcome() = std::move(welcome);
  link->Send(std::move(message));
  Admit(link, hello, degraded);
}

void Dispatcher::Admit(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello,
                       bool degraded) {
  const WorkerId id(hello.worker_id());
  const int64_t last_start = fleet_.LastProcessStart(id);
  const bool died =
      hello.died_size() > 0 || (last_start != 0 && last_start != hello.process_start_unix_ms());
  spdlog::info("worker {} on {} joined: {} slots, {} environments, {} leases held, {} spooled",
               id.value, hello.host(), hello.slots_size(), hello.environments_size(),
               hello.held_size(), hello.spooled_results());
  ConnectedWorker& worker = fleet_.Join(id, link, hello, now(), unix_now());
  worker.degraded = degraded;
  if (hello.sent_unix_ms() > 0) worker.clock_skew_ms = hello.sent_unix_ms() - worker.last_seen.ms;
  Commit(
      absl::StrCat("worker ", id.value),
      [this, row = ToRow(worker)](store::Database& db) {
        RETURN_IF_ERROR(store::UpsertWorker(db, row, unix_now()));
        return store::RecordEvent(db, "worker_joined", row.id.value, row.host, unix_now());
      },
      nullptr);
  if (died) {
    scheduler::WorkerDied event{id, {}};
    for (const v1::AttemptId& attempt : hello.died()) {
      // Told again until a Welcome arrives: what was requeued for it meanwhile, or leased again,
      // did not die a second time.
      const LiveExperiment* live = live_.Find(ExperimentId(attempt.experiment()));
      if (live == nullptr || live->lease.value != attempt.lease()) continue;
      event.running.insert(live->id);
    }
    Feed(event);
  }
  slot_times_.Joined(id, StatesOf(worker), worker.last_seen);
  Feed(scheduler::WorkerJoined{id, OffersOf(worker), HeldLeases(hello)});
  RepeatHolds(worker);
  environments_.Joined(id, hello, died);
  // Adopted leases keep running where they are. What the scheduler did not adopt it has revoked;
  // a lease that it granted anew has another epoch.
  for (const scheduler::HeldLease& held : HeldLeases(hello)) {
    for (LiveExperiment* live : live_.UnderLease(held.epoch)) {
      live->host = hello.host();
      if (live->running) PublishRow(*live);
    }
  }
  for (const ExperimentId& followed : relay_.FollowedExperiments()) {
    const LiveExperiment* live = live_.Find(followed);
    if (live != nullptr && live->running && live->worker == id) WatchLog(*live, true);
  }
}

void Dispatcher::Leave(const WorkerId& worker) {
  if (const ConnectedWorker* gone = fleet_.Find(worker)) {
    Commit(
        absl::StrCat("worker ", worker.value),
        [worker, seen = gone->last_seen, skew = gone->clock_skew_ms](store::Database& db) {
          return store::RecordLastSeen(db, worker, seen, skew);
        },
        nullptr);
    // Between two beats silence says nothing.
    const int64_t heard_ms = gone->last_seen.ms + options_.beat_interval_ns / kNsPerMs;
    slot_times_.Left(worker, {std::min(unix_now().ms, heard_ms)});
  }
  environments_.Left(worker);
  fleet_.Leave(worker);
  Feed(scheduler::WorkerLeft{worker});
}

void Dispatcher::OnMessage(const std::shared_ptr<WorkerLink>& link, const WorkerId& id,
                           v1::WorkerMessage& message) {
  // A result is good whichever stream of the worker brought it.
  if (message.has_finished()) OnFinished(id, *message.mutable_finished(), nullptr);
  ConnectedWorker* worker = fleet_.Find(id);
  if (worker == nullptr || worker->link != link) return;
  worker->last_heard = now();
  worker->last_seen = unix_now();
  switch (message.message_case()) {
    case v1::WorkerMessage::kBeat:
      return OnBeat(*worker, message.beat());
    case v1::WorkerMessage::kStarted:
      return OnStarted(id, proto::FromProto(message.started().attempt()),
                       UnixTimeMs{message.started().started_unix_ms()});
    case v1::WorkerMessage::kPhase:
      return OnPhase(message.phase());
    case v1::WorkerMessage::kReturned:
      return OnReturned(message.returned());
    case v1::WorkerMessage::kSlots:
      *worker->hello.mutable_slots() = message.slots().slots();
      return OnSlots(*worker);
    case v1::WorkerMessage::kEnvironments:
      *worker->hello.mutable_environments() = message.environments().environments();
      environments_.Has(id, worker->hello.environments());
      return OnSlots(*worker);
    case v1::WorkerMessage::kLog:
      return OnLog(message.log());
    case v1::WorkerMessage::kHello:
      return worker->link->Close("a second Hello on one stream");
    case v1::WorkerMessage::kActivity:
      return OnActivity(*worker, message.activity());
    case v1::WorkerMessage::kPreflight:
      return OnPreflight(*worker, message.preflight());
    case v1::WorkerMessage::kEnvironment:
      return environments_.Report(id, message.environment());
    case v1::WorkerMessage::kFinished:
    case v1::WorkerMessage::MESSAGE_NOT_SET:  // of a newer worker: nothing that we must understand
      return;
  }
}

void Dispatcher::OnReturned(const v1::AttemptReturned& message) {
  scheduler::Returned event{proto::FromProto(message.attempt()), message.reason(),
                            message.infrastructure_failure()};
  event.phase_limit = message.phase_limit();
  event.status = message.status();
  if (LiveExperiment* live = live_.Find(event.attempt.experiment)) {
    if (event.phase_limit && live->lease == event.attempt.lease) live->whole_timeout = true;
    event.signature = formats::ErrorSignature(event.reason, live->model);
  }
  Feed(event);
}

void Dispatcher::OnBeat(ConnectedWorker& worker, const v1::WorkerBeat& beat) {
  worker.hello.set_spooled_results(beat.spooled_results());
  if (beat.sent_unix_ms() > 0) worker.clock_skew_ms = beat.sent_unix_ms() - worker.last_seen.ms;
  Feed(scheduler::Beat{worker.id});
  // What started while the stream was lost.
  for (const v1::AttemptId& running : beat.running()) {
    OnStarted(worker.id, proto::FromProto(running), unix_now());
  }
}

void Dispatcher::OnStarted(const WorkerId& worker, const AttemptId& attempt,
                           UnixTimeMs started_at) {
  LiveExperiment* live = live_.Find(attempt.experiment);
  if (live == nullptr || live->lease != attempt.lease || live->worker != worker || live->running) {
    return;  // fenced, concluded or known
  }
  live_.Started(*live, started_at.ms);
  // After a crash of ours the worker's first beat says again what runs.
  Commit(
      absl::StrCat("start of experiment ", attempt.experiment.value),
      [attempt, started_at](store::Database& db) {
        return store::RecordStarted(db, attempt, started_at);
      },
      nullptr, /*lazily=*/true);
  Feed(scheduler::Started{attempt});
  if (relay_.Followed(attempt.experiment)) WatchLog(*live, true);
  PublishRow(*live);
}

void Dispatcher::OnPhase(const v1::PhaseChanged& message) {
  const AttemptId attempt = proto::FromProto(message.attempt());
  LiveExperiment* live = live_.Find(attempt.experiment);
  if (live == nullptr || live->lease != attempt.lease || !live->running) return;
  if (!plan::ParsePhase(message.phase())) return;  // of a newer worker
  live->phase = message.phase();
  if (feed_->HasWatchers(live->job)) feed_->PublishRow(live->job, LiveJobs::Row(*live));
}

void Dispatcher::OnFinished(const WorkerId& worker, v1::AttemptFinished& finished,
                            Imported imported) {
  auto pending = std::make_shared<PendingResult>();
  pending->attempt = proto::FromProto(finished.attempt());
  pending->worker = worker;
  pending->imported = std::move(imported);
  pending->message = std::move(*finished.mutable_result());
  pending->log = std::move(*finished.mutable_log());
  pending->started_at = {finished.started_unix_ms()};
  pending->finished_at = {finished.finished_unix_ms()};
  pending->arrived_at = MonotonicNow();
  absl::StatusOr<plan::Result> result = proto::FromProto(pending->message);
  if (result.ok()) {
    pending->result = *std::move(result);
    const LiveExperiment* live = live_.Find(pending->attempt.experiment);
    if (live != nullptr && live->whole_timeout) {
      pending->result.notes.push_back(
          "an earlier attempt was ended at a learned limit of a phase: see explain");
      pending->message.add_notes(pending->result.notes.back());
    }
  } else {
    // Kept, not dropped: the row says that it was measured and why it cannot be read.
    pending->result.outcome = plan::Outcome::kLost;
    pending->result.status = "unreadable_result";
    pending->result.blame = plan::Blame::kInfrastructure;
    pending->result.error = std::string(result.status().message());
    pending->message = proto::ToProto(pending->result);
  }
  relay_.Deliver(pending->attempt, 0, pending->log);
#ifdef DYNBENCH_PLANT_EARLY_ACKNOWLEDGEMENT  // a planted bug: docs/reliability.md, "Simulation"
  if (ConnectedWorker* early = fleet_.Find(worker)) {
    v1::CoordinatorMessage message;
    *message.mutable_acknowledged()->mutable_attempt() = finished.attempt();
    early->link->Send(std::move(message));
  }
#endif
  ingest_->Apply(
      [this, pending](store::Database& db) {
        ASSIGN_OR_RETURN(
            pending->acceptance,
            store::RecordResult(db, pending->attempt, pending->result, pending->log,
                                pending->started_at, pending->finished_at, unix_now()));
        return absl::OkStatus();
      },
      [this, pending](const absl::Status& status) {
        loop_->Post([this, pending, status] { OnResultCommitted(pending, status); });
      });
}

void Dispatcher::OnResultCommitted(const std::shared_ptr<PendingResult>& pending,
                                   const absl::Status& status) {
  const AttemptId& attempt = pending->attempt;
  ConnectedWorker* worker = fleet_.Find(pending->worker);
  const bool unknown = status.code() == absl::StatusCode::kNotFound;
  if (pending->imported) {
    pending->imported(status.ok() ? absl::StatusOr<store::Acceptance>(pending->acceptance)
                                  : status);
    if (!status.ok()) return;
  }
  if (!status.ok() && !unknown) {
    spdlog::error("result of experiment {} could not be stored: {}", attempt.experiment.value,
                  status.ToString());
    // Not acknowledged: the worker keeps it and sends it again when it has reconnected. Each time
    // that costs more changes of a store that cannot be written, so it is asked for less and less
    // often.
    if (worker == nullptr) return;
    const int64_t delay_ns =
        std::min(kLongestResendNs, kFirstResendNs << std::min(results_not_stored_++, 10));
    return loop_->PostAfter(delay_ns, [link = worker->link] {
      link->Close("a result could not be stored; send it again");
    });
  }
  results_not_stored_ = 0;
  if (unknown) {
    spdlog::warn(
        "worker {} sent a result of lease {} that this store never gave (experiment {}); "
        "it is of another database and is dropped",
        pending->worker.value, attempt.lease.value, attempt.experiment.value);
  }
  if (worker != nullptr) Acknowledge(pending->worker, attempt);
  if (observer_ != nullptr) observer_->ResultCommitted(MonotonicNow() - pending->arrived_at);
  if (unknown || pending->acceptance != store::Acceptance::kCounted) return;
  if (LiveExperiment* live = live_.Find(attempt.experiment)) {
    if (live->attempts == 0) live->attempts = 1;  // its start was never heard of
    live->started_unix_ms = pending->started_at.ms;
    predictions_->Observe(
        live->keys, static_cast<double>(pending->finished_at.ms - pending->started_at.ms) / 1000,
        pending->worker);
    if (pending->result.outcome == plan::Outcome::kPassed) {
      phase_history_.Observe(live->keys, pending->result.phases);
    } else if (pending->result.status == "timeout") {
      phase_history_.TimedOut(live->keys);
    }
  }
  Feed(scheduler::Finished{attempt});
  Conclude(attempt.experiment, pending->message, attempt.lease,
           static_cast<double>(pending->finished_at.ms - pending->started_at.ms) / 1000);
}

void Dispatcher::Acknowledge(const WorkerId& worker, const AttemptId& attempt) {
  if (acknowledged_.empty()) loop_->Post([this] { SendAcknowledgements(); });
  acknowledged_[worker].push_back(attempt);
}

void Dispatcher::SendAcknowledgements() {
  for (const auto& [id, attempts] : std::exchange(acknowledged_, {})) {
    const ConnectedWorker* worker = fleet_.Find(id);
    if (worker == nullptr) continue;  // it sends them again when it is back
    v1::CoordinatorMessage message;
    for (const AttemptId& attempt : attempts) {
      v1::ResultAcknowledged& told = *message.mutable_acknowledged();
      if (!told.has_attempt()) {
        *told.mutable_attempt() = proto::ToProto(attempt);
      } else if (worker->hello.takes_acknowledged_groups()) {
        *told.add_more() = proto::ToProto(attempt);
      } else {
        worker->link->Send(std::exchange(message, {}));
        *message.mutable_acknowledged()->mutable_attempt() = proto::ToProto(attempt);
      }
    }
    worker->link->Send(std::move(message));
  }
}

void Dispatcher::OnSlots(ConnectedWorker& worker) {
  OffersChanged(worker);
  Commit(
      absl::StrCat("worker ", worker.id.value),
      [this, row = ToRow(worker)](store::Database& db) {
        return store::UpsertWorker(db, row, unix_now());
      },
      nullptr);
}

void Dispatcher::OnLog(const v1::LogChunk& chunk) {
  relay_.Deliver(proto::FromProto(chunk.attempt()), chunk.offset_bytes(), chunk.data());
}

void Dispatcher::WatchLog(const LiveExperiment& experiment, bool watch) {
  ConnectedWorker* worker = fleet_.Find(experiment.worker);
  if (worker == nullptr) return;
  v1::CoordinatorMessage message;
  *message.mutable_watch_log()->mutable_attempt() = proto::ToProto(experiment.attempt());
  message.mutable_watch_log()->set_watch(watch);
  worker->link->Send(std::move(message));
}

void Dispatcher::FollowLog(ExperimentId experiment, std::shared_ptr<LogFollower> follower) {
  loop_->Post([this, experiment, follower = std::move(follower)] {
    const LiveExperiment* live = live_.Find(experiment);
    if (live == nullptr) return follower->End();
    relay_.Follow(experiment, follower);
    if (live->running) WatchLog(*live, true);
  });
}

void Dispatcher::UnfollowLog(ExperimentId experiment, std::shared_ptr<LogFollower> follower) {
  loop_->Post([this, experiment, follower = std::move(follower)] {
    if (!relay_.Unfollow(experiment, follower)) return;
    const LiveExperiment* live = live_.Find(experiment);
    if (live != nullptr && live->running) WatchLog(*live, false);
  });
}

}  // namespace dynbench::session

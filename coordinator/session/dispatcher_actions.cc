// What the scheduler decides, carried out. See dispatcher.h for the order of things.
#include <utility>

#include "common/base/status.h"
#include "coordinator/session/dispatcher.h"
#include "proto/dynbench/convert.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

constexpr int64_t kStoreRetryNs = kNsPerSecond;  // a store that cannot write is asked again
constexpr size_t kLeaseMessageBytes = 1 << 20;

bool IsLogical(const absl::Status& status) {
  return status.code() == absl::StatusCode::kNotFound ||
         status.code() == absl::StatusCode::kAlreadyExists ||
         status.code() == absl::StatusCode::kFailedPrecondition;
}

}  // namespace

void Dispatcher::Feed(const scheduler::Event& event) {
  for (const scheduler::Action& action : scheduler_->Step(now(), event)) {
    std::visit([this](const auto& a) { CarryOut(a); }, action);
  }
}

void Dispatcher::Commit(const std::string& what, const ingest::Change& change,
                        const std::function<void()>& committed, bool lazily) {
  const auto done = [this, what, change, committed](const absl::Status& status) {
    if (status.ok()) {
      if (committed) loop_->Post(committed);
      return;
    }
    if (IsLogical(status)) {
      spdlog::info("{}: {}", what, std::string(status.message()));
      return;
    }
    spdlog::error("{} could not be stored, trying again: {}", what, status.ToString());
    loop_->PostAfter(kStoreRetryNs,
                     [this, what, change, committed] { Commit(what, change, committed); });
  };
  lazily ? ingest_->ApplyLazily(change, done) : ingest_->Apply(change, done);
}

void Dispatcher::CarryOut(const scheduler::Grant& grant) {
  pending_grants_[grant.epoch] = {grant.slot, {}, grant.experiments, MonotonicNow()};
  const ConnectedWorker* worker = fleet_.Find(grant.slot.worker);
  const std::string host = worker == nullptr ? "" : worker->hello.host();
  for (const ExperimentId& id : grant.experiments) {
    live_.Leased(id, grant.epoch, grant.slot.worker, host, grant.slot.index);
  }
  ingest_->Apply(
      [this, grant](store::Database& db) {
        RETURN_IF_ERROR(
            store::InsertLease(db, grant.epoch, grant.slot, grant.experiments, unix_now()));
        // A series that moves to another host is seen in its figures: say so where one looks.
        for (const auto& [experiment, home] : grant.moved) {
          RETURN_IF_ERROR(store::RecordEvent(
              db, "affinity_broken", absl::StrCat("e", experiment.value),
              absl::StrCat("worker ", home.value, " measured this series before, now worker ",
                           grant.slot.worker.value, " slot ", grant.slot.index),
              unix_now()));
        }
        return absl::OkStatus();
      },
      [this, epoch = grant.epoch](const absl::Status& status) {
        loop_->Post([this, epoch, status] { OnGrantCommitted(epoch, status); });
      });
}

void Dispatcher::OnGrantCommitted(LeaseEpoch epoch, const absl::Status& status) {
  const auto found = pending_grants_.find(epoch);
  if (found == pending_grants_.end()) return;
  const PendingGrant grant = std::move(found->second);
  pending_grants_.erase(found);
  std::vector<ExperimentId> wanted;
  for (const ExperimentId& id : grant.experiments) {
    if (grant.dropped.count(id) == 0 && live_.Find(id) != nullptr) wanted.push_back(id);
  }
  if (!status.ok()) {
    spdlog::error("lease {} could not be stored: {}", epoch.value, status.ToString());
    loop_->PostAfter(kStoreRetryNs, [this, epoch, wanted] {
      GiveBack(epoch, wanted, "the lease could not be stored");
    });
    return;
  }
  ConnectedWorker* worker = fleet_.Find(grant.slot.worker);
  if (worker == nullptr) {
    GiveBack(epoch, wanted, "the worker left before the lease reached it");
    return;
  }
  if (wanted.empty()) return;
  SendLease(*worker, epoch, grant.slot.index, wanted);
  if (observer_ != nullptr) observer_->LeaseSent(MonotonicNow() - grant.decided_at);
}

// A partition of a large job may be more than one message holds: it comes in several, of the same
// epoch.
void Dispatcher::SendLease(const ConnectedWorker& worker, LeaseEpoch epoch, int slot,
                           const std::vector<ExperimentId>& experiments) {
  v1::CoordinatorMessage message;
  size_t bytes = 0;
  for (const ExperimentId& id : experiments) {
    const LiveExperiment& live = *live_.Find(id);
    if (bytes > kLeaseMessageBytes) {
      worker.link->Send(std::exchange(message, {}));
      bytes = 0;
    }
    v1::Lease& lease = *message.mutable_lease();
    lease.set_epoch(epoch.value);
    lease.set_slot(slot);
    v1::PlannedExperiment& planned = *lease.add_experiments();
    planned.set_id(id.value);
    planned.set_json(live.json);
    planned.set_job(live.job.value);
    planned.set_compile_weight(live.compile_weight);
    AddPhaseLimits(live, &planned);
    bytes += live.json.size();
  }
  worker.link->Send(std::move(message));
}

void Dispatcher::AddPhaseLimits(const LiveExperiment& live, v1::PlannedExperiment* planned) const {
  if (live.whole_timeout || live.timeout_ms == 0) return;
  if (pairs_.Knows(live.job)) return;  // to run one side again would cost the other's result
  for (const LearnedLimit& learned : phase_history_.LimitsFor(live.keys, live.timeout_ms)) {
    v1::PhaseLimit& limit = *planned->add_phase_limits();
    limit.set_phase(std::string(plan::ToString(learned.phase)));
    limit.set_limit_ms(learned.limit_ms);
    limit.set_origin(learned.origin);
  }
}

void Dispatcher::GiveBack(LeaseEpoch epoch, const std::vector<ExperimentId>& experiments,
                          const std::string& reason) {
  for (const ExperimentId& id : experiments) {
    Feed(scheduler::Returned{{id, epoch}, reason, /*infrastructure_failure=*/false});
  }
}

void Dispatcher::DropFromPending(LeaseEpoch epoch, ExperimentId experiment) {
  const auto pending = pending_grants_.find(epoch);
  if (pending != pending_grants_.end()) pending->second.dropped.insert(experiment);
}

void Dispatcher::CarryOut(const scheduler::Revoke& revoke) {
  if (pending_grants_.count(revoke.epoch) > 0) {
    for (const ExperimentId& id : revoke.experiments) DropFromPending(revoke.epoch, id);
    return;
  }
  ConnectedWorker* worker = fleet_.Find(revoke.worker);
  if (worker == nullptr) return;  // it is told when it says hello with this lease
  v1::CoordinatorMessage message;
  v1::Revoke& out = *message.mutable_revoke();
  out.set_epoch(revoke.epoch.value);
  out.set_reason(revoke.reason);
  for (const ExperimentId& id : revoke.experiments) out.add_experiments(id.value);
  worker->link->Send(std::move(message));
}

void Dispatcher::CarryOut(const scheduler::Conclude& c) {
  if (const LiveExperiment* live = live_.Find(c.experiment)) {
    DropFromPending(live->lease, c.experiment);
  }
  plan::Result result;
  result.outcome = c.outcome;
  result.status = c.status;
  result.blame = c.blame;
  result.error = c.reason;
  Commit(
      absl::StrCat("conclusion of experiment ", c.experiment.value),
      [this, c](store::Database& db) {
        return store::Conclude(db, c.experiment, c.outcome, c.status, c.blame, c.reason,
                               unix_now());
      },
      [this, id = c.experiment, message = proto::ToProto(result)] { Conclude(id, message); });
}

void Dispatcher::CarryOut(const scheduler::Requeue& r) {
  DropFromPending(r.fenced, r.experiment);
  if (LiveExperiment* live = live_.Find(r.experiment); live != nullptr && live->lease == r.fenced) {
    live_.Waits(*live);
    PublishRow(*live);
  }
  spdlog::info("experiment {} waits again (lease {}): {}", r.experiment.value, r.fenced.value,
               r.reason);
  Commit(
      absl::StrCat("requeue of experiment ", r.experiment.value),
      [this, r](store::Database& db) {
        return store::Requeue(db, r.experiment, r.fenced, r.reason, unix_now(), r.cause);
      },
      nullptr);
}

void Dispatcher::CarryOut(const scheduler::CloseLease& close) {
  Commit(
      absl::StrCat("end of lease ", close.epoch.value),
      [this, epoch = close.epoch](store::Database& db) {
        return store::CloseLease(db, epoch, unix_now());
      },
      nullptr);
}

// After the actions of this step: it changes offers, and so makes a step of its own.
void Dispatcher::CarryOut(const scheduler::Quarantine& quarantine) {
  loop_->Post([this, quarantine] {
    Quarantine(quarantine.slot, quarantine.reason);
    stopped_slots_.insert(quarantine.slot);
  });
}

void Dispatcher::CarryOut(const scheduler::ReportCluster& cluster) {
  const std::string text =
      absl::StrCat(cluster.failures, " equal infrastructure failures on ", cluster.workers,
                   cluster.workers == 1 ? " worker" : " workers", ": ", cluster.reason);
  spdlog::warn("{}", text);
  Commit(
      "event",
      [text, at = unix_now()](store::Database& db) {
        return store::RecordEvent(db, "failure_cluster", "fleet", text, at);
      },
      nullptr);
}

void Dispatcher::Conclude(ExperimentId experiment, const v1::Result& result, LeaseEpoch lease,
                          double seconds) {
  LiveExperiment* live = live_.Find(experiment);
  if (live == nullptr) return;
  const JobId job = live->job;
  if (pairs_.Knows(job)) RecordRound(*live, result, lease, seconds);
  if (feed_->HasWatchers(job)) {
    v1::ResultRow row = LiveJobs::Row(*live);
    row.set_state("done");
    row.clear_phase();
    row.set_finished_unix_ms(unix_now().ms);
    *row.mutable_result() = result;
    row.mutable_result()->clear_eager_ns();
    row.mutable_result()->clear_compiled_ns();
    feed_->PublishRow(job, row);
  }
  const auto outcome = plan::ParseOutcome(result.outcome());
  live_.Done(experiment, outcome.value_or(plan::Outcome::kLost));
  relay_.End(experiment);
  dirty_.insert(job);
  if (observer_ != nullptr) observer_->ResultCounted(outcome.value_or(plan::Outcome::kLost));
  AdvancePairs(job);
}

void Dispatcher::PublishRow(const LiveExperiment& experiment) {
  dirty_.insert(experiment.job);
  if (feed_->HasWatchers(experiment.job)) {
    feed_->PublishRow(experiment.job, LiveJobs::Row(experiment));
  }
}

}  // namespace dynbench::session

#include "tests/simulation/worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plan/words.h"
#include "proto/dynbench/convert.h"

namespace dynbench::simulation {
namespace {

// worker/agent: how long it waits before it dials again, when it gives a stream up, and how often
// it looks at its disk.
constexpr int64_t kFirstDelayMs = 100, kLastDelayMs = 1'000;
constexpr int64_t kBeatMs = 5'000;
constexpr int64_t kSilenceMs = 4 * kBeatMs;
constexpr int64_t kWelcomeMs = 30'000;
constexpr int64_t kDiskMs = 5'000;
constexpr int64_t kSpaceMs = 30'000;
constexpr int64_t kJournalMs = 50;  // from the start of an attempt to its line in the journal

int64_t Ms(int64_t ms) { return ms * kNsPerMs; }

}  // namespace

Worker::Worker(World* world, const Scenario* scenario, Coordinator* coordinator, Oracle* oracle,
               int number, int slots, bool nightly)
    : world_(world),
      scenario_(scenario),
      coordinator_(coordinator),
      oracle_(oracle),
      number_(number),
      id_(absl::StrCat("w", number)),
      nightly_(nightly),
      slots_(static_cast<size_t>(slots)) {
  cable_.delay_ms =
      world->random.Chance(scenario->slow_links) ? scenario->slow_delay_ms : scenario->delay_ms;
}

void Worker::After(int64_t ns, std::function<void()> task) {
  world_->timeline.After(ns, [this, incarnation = incarnation_, task = std::move(task)] {
    Guarded(incarnation, task);
  });
}

void Worker::Guarded(int64_t incarnation, const std::function<void()>& task) {
  if (!up_ || incarnation != incarnation_) return;
  if (world_->now() < stopped_until_) {
    world_->timeline.At(stopped_until_, [this, incarnation, task] { Guarded(incarnation, task); });
    return;
  }
  task();
}

void Worker::Boot() {
  if (up_) return;
  up_ = true;
  ++incarnation_;
  world_->Note("worker starts", number_);
  draining_ = false;
  drained_ = false;
  disk_low_ = world_->now() < disk_full_until_;
  process_start_ms_ = world_->unix_now().ms;
  stopped_until_ = held_until_ = world_->now();
  failures_ = 0;
  died_.merge(std::exchange(journal_, {}));
  for (Slot& slot : slots_) slot = Slot();
  Dial();
}

void Worker::Kill(bool silent) {
  if (!up_) return;
  world_->Note("worker is killed", number_);
  up_ = false;
  ++incarnation_;
  for (const Slot& slot : slots_) {
    for (const auto& [attempt, run] : slot.running) {
      if (journal_.count(attempt) > 0) oracle_->DiedRunning(attempt.experiment);
    }
  }
  // What could not be written was in memory only.
  std::erase_if(spool_, [](const auto& entry) { return !entry.second.durable; });
  untold_.clear();
  welcomed_ = false;
  ++session_;
  if (connection_ != nullptr) connection_->Die(Side::kWorker, silent);
  connection_.reset();
}

void Worker::Stop(std::function<void()> then) {
  if (!up_ || draining_) return;
  world_->Note("worker is told to stop", number_);
  draining_ = true;
  TellSlots();
  for (Slot& slot : slots_) {
    for (const AttemptId& attempt : std::exchange(slot.queue, {})) {
      Return(attempt, "the worker is stopping");
    }
  }
  After(Ms(world_->random.WholeIn({100, 3'000})), [this, then = std::move(then)] {
    GiveBackAll("the worker is stopping");
    journal_.clear();  // a wanted stop counts against nobody
    Kill(/*silent=*/false);
    then();
  });
}

void Worker::GiveBackAll(const std::string& reason) {
  for (Slot& slot : slots_) {
    for (const AttemptId& attempt : std::exchange(slot.queue, {})) Return(attempt, reason);
    for (const auto& [attempt, run] : std::exchange(slot.running, {})) {
      journal_.erase(attempt);
      if (!run.dropped) Return(attempt, reason);
    }
  }
}

void Worker::Pause(int64_t ns) {
  if (!up_) return;
  world_->Note("worker is stopped for a while", number_);
  stopped_until_ = std::max(stopped_until_, world_->now() + ns);
}

void Worker::FillDisk(int64_t ns) {
  world_->Note("worker's disk is full", number_);
  disk_full_until_ = std::max(disk_full_until_, world_->now() + ns);
  if (!up_) return;
  // Looked at every few seconds.
  const auto look = [this](const auto& again) -> void {
    const bool full = world_->now() < disk_full_until_;
    if (!full) {
      for (auto& [attempt, entry] : spool_) entry.durable = true;
    }
    if (full != disk_low_) {
      disk_low_ = full;
      TellSlots();
    }
    if (full) After(Ms(kDiskMs), [again] { again(again); });
  };
  After(Ms(world_->random.Below(kDiskMs)), [look] { look(look); });
}

void Worker::CutStream(bool silent) {
  if (connection_ == nullptr) return;
  world_->Note("stream is cut", number_);
  connection_->Cut(silent);
}

v1::Slot Worker::Describe(int index) const {
  v1::Slot slot;
  slot.set_index(index);
  slot.set_device("cpu");
  const bool held = world_->now() < held_until_;
  slot.set_accepting(!draining_ && !drained_ && !disk_low_ && !held);
  if (drained_) slot.set_reason("drained");
  if (drained_) slot.set_state("drained");
  if (draining_) slot.set_reason("the worker is stopping");
  if (disk_low_ || held) slot.set_reason("disk low");
  return slot;
}

void Worker::TellSlots() {
  v1::WorkerMessage message;
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    *message.mutable_slots()->add_slots() = Describe(i);
  }
  Send(std::move(message));
}

void Worker::TellActivity(int slot) {
  v1::WorkerMessage message;
  v1::SlotActivity& activity = *message.mutable_activity();
  activity.set_slot(slot);
  activity.set_activity(slots_[static_cast<size_t>(slot)].running.empty() ? "idle" : "measuring");
  activity.set_since_unix_ms(world_->unix_now().ms);
  Send(std::move(message));
}

void Worker::TellEnvironments() {
  v1::WorkerMessage message;
  *message.mutable_environments()->mutable_environments() = MakeHello().hello().environments();
  Send(std::move(message));
}

v1::WorkerMessage Worker::MakeHello() const {
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol_version(proto::kProtocolVersion);
  hello.set_worker_id(id_.value);
  hello.set_host(id_.value);
  hello.set_inventory_json("{}");
  hello.set_makes_environments(true);
  hello.set_sends_objects(true);
  hello.set_takes_acknowledged_groups(true);
  hello.set_process_start_unix_ms(process_start_ms_);
  hello.set_spooled_results(static_cast<int>(spool_.size()));
  for (const char* name : {"default", "nightly"}) {
    if (name[0] == 'n' && !nightly_) continue;
    v1::Environment& environment = *hello.add_environments();
    environment.set_name(name);
    environment.set_hash(name);
    environment.set_torch_version("2.14.1");
    environment.add_devices("cpu");
    environment.add_suites("timm");
  }
  for (const auto& [id, name] : made_) {
    v1::Environment& environment = *hello.add_environments();
    environment.set_name(name);
    environment.set_id(id);
    environment.set_hash(id);
  }
  std::map<LeaseEpoch, std::pair<int, std::set<ExperimentId>>> held;
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    *hello.add_slots() = Describe(i);
    const Slot& slot = slots_[static_cast<size_t>(i)];
    const auto hold = [&](const AttemptId& attempt) {
      held[attempt.lease].first = i;
      held[attempt.lease].second.insert(attempt.experiment);
    };
    for (const AttemptId& attempt : slot.queue) hold(attempt);
    for (const auto& [attempt, run] : slot.running) {
      if (!run.dropped) hold(attempt);
    }
  }
  for (const auto& [attempt, entry] : spool_) held[attempt.lease].second.insert(attempt.experiment);
  for (const auto& [epoch, what] : held) {
    v1::HeldLease& lease = *hello.add_held();
    lease.set_epoch(epoch.value);
    lease.set_slot(what.first);
    for (const ExperimentId& experiment : what.second) lease.add_experiments(experiment.value);
  }
  for (const AttemptId& attempt : died_) {
    if (spool_.count(attempt) == 0) *hello.add_died() = proto::ToProto(attempt);
  }
  return message;
}

void Worker::Dial() {
  const int64_t session = ++session_;
  welcomed_ = false;
  last_heard_ = world_->now();
  const int64_t incarnation = incarnation_;
  connection_ = coordinator_->Dial(
      &cable_, number_,
      [this, incarnation, session](const v1::CoordinatorMessage& message) {
        if (!up_ || incarnation != incarnation_ || session != session_) return;
        if (world_->now() >= stopped_until_) return OnMessage(message);
        world_->timeline.At(stopped_until_, [this, incarnation, session, message] {
          Guarded(incarnation, [this, session, message] {
            if (session == session_) OnMessage(message);
          });
        });
      },
      [this, incarnation, session] {
        Guarded(incarnation, [this, session] {
          if (session == session_) Lost();
        });
      });
  if (connection_ == nullptr) return Lost();
  connection_->SendUp(MakeHello());
  CheckSilence(session);
}

void Worker::Lost() {
  ++session_;
  connection_.reset();
  welcomed_ = false;
  const int64_t whole = std::min(kLastDelayMs, kFirstDelayMs << std::min(failures_++, 10));
  After(Ms(whole / 2 + world_->random.Below(whole / 2 + 1)), [this] {
    if (connection_ == nullptr) Dial();
  });
}

void Worker::CheckSilence(int64_t session) {
  if (session != session_ || connection_ == nullptr) return;
  const int64_t limit = Ms(welcomed_ ? kSilenceMs : kWelcomeMs);
  if (world_->now() - last_heard_ > limit) {
    connection_->End(Side::kWorker, /*flush=*/false);
    return;
  }
  After(limit / 4, [this, session] { CheckSilence(session); });
}

void Worker::Beat(int64_t session) {
  if (session != session_ || !welcomed_) return;
  v1::WorkerMessage message;
  v1::WorkerBeat& beat = *message.mutable_beat();
  for (const Slot& slot : slots_) {
    for (const auto& [attempt, run] : slot.running) *beat.add_running() = proto::ToProto(attempt);
  }
  beat.set_spooled_results(static_cast<int>(spool_.size()));
  Send(std::move(message));
  After(Ms(kBeatMs), [this, session] { Beat(session); });
}

void Worker::Send(v1::WorkerMessage message) {
  if (welcomed_ && connection_ != nullptr) connection_->SendUp(std::move(message));
}

void Worker::OnMessage(const v1::CoordinatorMessage& message) {
  last_heard_ = world_->now();
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      if (message.welcome().verdict() != v1::Welcome::REFUSED) OnWelcome();
      return;
    case v1::CoordinatorMessage::kLease:
      return OnLease(message.lease());
    case v1::CoordinatorMessage::kRevoke:
      return OnRevoke(message.revoke());
    case v1::CoordinatorMessage::kAcknowledged:
      spool_.erase(proto::FromProto(message.acknowledged().attempt()));
      for (const v1::AttemptId& attempt : message.acknowledged().more()) {
        spool_.erase(proto::FromProto(attempt));
      }
      return;
    case v1::CoordinatorMessage::kDrain:
      return OnDrain(message.drain());
    case v1::CoordinatorMessage::kRelease:
      drained_ = false;
      return TellSlots();
    case v1::CoordinatorMessage::kPreflight:
      return OnPreflight(message.preflight().slot());
    case v1::CoordinatorMessage::kEnvironment:
      return OnEnvironment(message.environment());
    case v1::CoordinatorMessage::kWatchLog: {
      v1::WorkerMessage log;
      *log.mutable_log()->mutable_attempt() = message.watch_log().attempt();
      log.mutable_log()->set_data("x");
      return Send(std::move(log));
    }
    default:
      return;
  }
}

void Worker::OnWelcome() {
  welcomed_ = true;
  failures_ = 0;
  died_.clear();
  for (const auto& [attempt, entry] : spool_) {
    v1::WorkerMessage message;
    *message.mutable_finished() = entry.finished;
    Send(std::move(message));
  }
  for (auto& [attempt, returned] : std::exchange(untold_, {})) {
    v1::WorkerMessage message;
    *message.mutable_returned() = std::move(returned);
    Send(std::move(message));
  }
  Beat(session_);
}

void Worker::OnLease(const v1::Lease& lease) {
  if (lease.slot() < 0 || lease.slot() >= static_cast<int>(slots_.size())) {
    return world_->Violate(absl::StrCat("worker ", number_, " got a lease of slot ", lease.slot()));
  }
  Slot& slot = slots_[static_cast<size_t>(lease.slot())];
  for (const v1::PlannedExperiment& experiment : lease.experiments()) {
    const AttemptId attempt{ExperimentId(experiment.id()), LeaseEpoch(lease.epoch())};
    const bool queued = std::count(slot.queue.begin(), slot.queue.end(), attempt) > 0;
    if (queued || slot.running.count(attempt) > 0) continue;
    if (draining_ || drained_ || world_->now() < held_until_) {
      Return(attempt, "the worker takes nothing more");
    } else {
      slot.queue.push_back(attempt);
    }
  }
  StartNext(lease.slot());
}

void Worker::OnDrain(const v1::Drain& drain) {
  drained_ = true;
  TellSlots();
  for (Slot& slot : slots_) {
    for (const AttemptId& attempt : std::exchange(slot.queue, {})) {
      Return(attempt, drain.reason());
    }
  }
  After(Ms(drain.deadline_ms()), [this, reason = drain.reason()] {
    if (drained_) GiveBackAll(reason);
  });
}

void Worker::OnPreflight(int asked) {
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    if (asked >= 0 && asked != i) continue;
    v1::WorkerMessage message;
    v1::PreflightReport& report = *message.mutable_preflight();
    report.set_slot(i);
    report.set_environment("default");
    report.set_passed(true);
    Send(std::move(message));
  }
}

void Worker::OnRevoke(const v1::Revoke& revoke) {
  const LeaseEpoch epoch(revoke.epoch());
  const std::set<int64_t> experiments(revoke.experiments().begin(), revoke.experiments().end());
  const auto meant = [&](const AttemptId& attempt) {
    return attempt.lease == epoch && experiments.count(attempt.experiment.value) > 0;
  };
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    Slot& slot = slots_[static_cast<size_t>(i)];
    std::erase_if(slot.queue, meant);
    for (auto& [attempt, run] : slot.running) {
      if (!meant(attempt) || std::exchange(run.dropped, true)) continue;
      // Its tree takes a moment to end.
      After(Ms(world_->random.WholeIn({20, 3'000})),
            [this, i, attempt = attempt] { Forget(i, attempt); });
    }
  }
}

Random Worker::Dice(const AttemptId& attempt) const {
  return Random(Mix(world_->seed() ^ Mix(static_cast<uint64_t>(attempt.experiment.value)) ^
                    static_cast<uint64_t>(attempt.lease.value)));
}

void Worker::StartNext(int index) {
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (slot.queue.empty() || !slot.running.empty() || draining_) return;
  const AttemptId attempt = slot.queue.front();
  slot.queue.pop_front();
  Begin(index, attempt);
}

void Worker::Begin(int index, const AttemptId& attempt) {
  slots_[static_cast<size_t>(index)].running[attempt] = Run();
  oracle_->Began(number_, attempt);
  v1::WorkerMessage started;
  *started.mutable_started()->mutable_attempt() = proto::ToProto(attempt);
  started.mutable_started()->set_started_unix_ms(world_->unix_now().ms);
  started.mutable_started()->set_slot(index);
  Send(std::move(started));
  TellActivity(index);
  const auto running = [this, index, attempt] {
    return slots_[static_cast<size_t>(index)].running.count(attempt) > 0;
  };
  After(Ms(kJournalMs), [this, attempt, running] {
    if (running()) journal_.insert(attempt);
  });
  Random dice = Dice(attempt);
  const auto duration = static_cast<int64_t>(dice.In(scenario_->duration_s) * kNsPerSecond);
  After(duration / 4, [this, attempt, running] {
    if (!running()) return;
    v1::WorkerMessage phase;
    *phase.mutable_phase()->mutable_attempt() = proto::ToProto(attempt);
    phase.mutable_phase()->set_phase("compile");
    Send(std::move(phase));
  });
  // A poison model takes the worker down whoever runs it: a property of the experiment.
  Random model(Mix(world_->seed() ^ 0x706f69736f6eu) ^
               static_cast<uint64_t>(attempt.experiment.value));
  if (model.Chance(scenario_->poison)) {
    After(duration / 2 + Ms(2 * kJournalMs), [this, running] {
      if (!running()) return;
      Kill(/*silent=*/false);
      world_->timeline.After(Ms(world_->random.WholeIn({500, 5'000})), [this] { Boot(); });
    });
    return;
  }
  const bool trouble = dice.Chance(scenario_->infrastructure);
  const bool device = dice.Chance(scenario_->device_failures);
  const bool host = dice.Chance(scenario_->host_failures);
  const bool first = dice.Chance(0.5);
  const std::string status = device ? (first ? "device_lost" : "gpu_hang")
                             : host ? (first ? "no_space" : "download_failed")
                                    : "";
  After(duration, [this, index, attempt, running, trouble, status] {
    if (!running()) return;
    if (!trouble && status.empty()) return Finish(index, attempt);
    const bool dropped = slots_[static_cast<size_t>(index)].running.at(attempt).dropped;
    if (status == plan::kNoSpace) HoldForSpace();
    if (!dropped) Return(attempt, "simulated trouble " + status, index, status);
    Forget(index, attempt);
  });
}

void Worker::HoldForSpace() {
  held_until_ = world_->now() + Ms(kSpaceMs);
  for (Slot& slot : slots_) {
    for (const AttemptId& attempt : std::exchange(slot.queue, {})) Return(attempt, "disk low");
  }
  TellSlots();
  After(Ms(kSpaceMs), [this] { TellSlots(); });
}

void Worker::Finish(int index, const AttemptId& attempt) {
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (slot.running.at(attempt).dropped) return;  // its end is on its way
  Random dice = Dice(attempt);
  const bool passed = dice.Bits() % 10 != 0;
  const std::string token = absl::StrCat("measured ", dice.Bits());
  v1::AttemptFinished finished;
  *finished.mutable_attempt() = proto::ToProto(attempt);
  v1::Result& result = *finished.mutable_result();
  result.set_outcome(passed ? "passed" : "failed");
  result.set_status(passed ? "measured" : "fail_accuracy");
  result.set_phase("report");
  result.set_blame(passed ? "none" : "compiler");
  result.set_error(token);
  if (passed) {  // pairs of many sorts: quiet and noisy ones
    const double noise = dice.Chance(0.5) ? 0.005 : 0.1;
    result.mutable_metrics()->set_eager_latency_ms(20);
    result.mutable_metrics()->set_abs_latency_ms(10 * (1 + noise * (dice.Fraction() - 0.5)));
  }
  finished.set_started_unix_ms(world_->unix_now().ms - 1'000);
  finished.set_finished_unix_ms(world_->unix_now().ms);
  oracle_->Measured(attempt, token);
  spool_[attempt] = {finished, world_->now() >= disk_full_until_};
  v1::WorkerMessage message;
  *message.mutable_finished() = std::move(finished);
  Send(std::move(message));
  Forget(index, attempt);
}

void Worker::Return(const AttemptId& attempt, const std::string& reason, int failed,
                    const std::string& status) {
  if (failed >= 0) oracle_->InfrastructureFailed(attempt.experiment, {id_, failed}, status);
  v1::AttemptReturned returned;
  *returned.mutable_attempt() = proto::ToProto(attempt);
  returned.set_reason(reason);
  returned.set_infrastructure_failure(failed >= 0);
  returned.set_status(status);
  if (!welcomed_) {
    untold_[attempt] = std::move(returned);
    return;
  }
  v1::WorkerMessage message;
  *message.mutable_returned() = std::move(returned);
  Send(std::move(message));
}

void Worker::ReturnOne() {
  if (!up_ || slots_[0].running.empty()) return;
  const AttemptId attempt = slots_[0].running.begin()->first;
  Return(attempt, "simulated");
  Forget(0, attempt);
}

void Worker::Forget(int index, const AttemptId& attempt) {
  journal_.erase(attempt);
  if (slots_[static_cast<size_t>(index)].running.erase(attempt) == 0) return;
  TellActivity(index);
  StartNext(index);
}

}  // namespace dynbench::simulation

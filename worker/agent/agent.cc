#include "worker/agent/agent.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/base/version.h"
#include "nlohmann/json.hpp"
#include "proto/dynbench/convert.h"
#include "proto/dynbench/keepalive.h"
#include "spdlog/spdlog.h"
#include "worker/agent/messages.h"
#include "worker/host/alias_sweep.h"
#include "worker/host/disk_space.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kArtifactsOfAttemptBytes = int64_t{1} << 30;
constexpr int64_t kDiskEveryMs = 5'000;
// For the first checks, before the coordinator is told what there is.
constexpr int64_t kFirstChecksMs = 1'000;

std::mt19937& Generator() {
  static thread_local std::mt19937 generator{std::random_device{}()};
  return generator;
}

std::string Gib(int64_t bytes) {
  return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / (int64_t{1} << 30));
}

// What every process of this worker has, so that one that outlives it is found.
Variables MarkedEnvironment(const std::string& mark) {
  Variables ours = OwnEnvironment();
  ours[kOwnerVariable] = mark;
  return ours;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(AgentOptions options, EventLoop* loop) {
  ASSIGN_OR_RETURN(Identity identity, Identity::Open(options.state_dir));
  ASSIGN_OR_RETURN(Spool spool, Spool::Open(options.state_dir + "/spool"));
  RETURN_IF_ERROR(MakePrivateFolder(options.state_dir + "/work"));
  RETURN_IF_ERROR(MakePrivateFolder(options.state_dir + "/caches"));
  RETURN_IF_ERROR(MakePrivateFolder(options.state_dir + "/artifacts"));
  return std::unique_ptr<Agent>(
      new Agent(std::move(options), loop, std::move(identity), std::move(spool)));
}

Agent::Agent(AgentOptions options, EventLoop* loop, Identity identity, Spool spool)
    : options_(std::move(options)),
      loop_(loop),
      identity_(std::move(identity)),
      spool_(std::move(spool)),
      journal_(options_.state_dir + "/running.json", disk_.loop()),
      caches_(options_.state_dir + "/caches", options_.state_dir + "/shared",
              options_.cache_cap_bytes),
      folders_(options_.state_dir + "/work", options_.keep_failed),
      artifacts_(options_.state_dir + "/artifacts", kArtifactsOfAttemptBytes,
                 options_.artifacts_cap_bytes),
      files_(options_.state_dir + "/files",
             {[this](const std::string& sha256) { return session_->FetchFile(sha256); },
              [](int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); },
              [] { return std::uniform_real_distribution<>()(Generator()); }}),
      started_at_(UnixNow()),
      spool_writer_(loop_, disk_.loop()),
      engine_({options_.state_dir, options_.cores,
               MarkedEnvironment(OwnerMark(identity_.id().value, started_at_.ms)),
               options_.profile}) {
  EndLeftovers();
  journal_.Load();
  const int swept = folders_.SweepLeftovers();
  if (swept > 0) spdlog::warn("{} work folders were left by a killed worker", swept);
  AddSlots();
}

// Of an earlier process of this worker that was killed; its state folder is ours alone. Then what
// shall do the same for us.
void Agent::EndLeftovers() {
  const int ended = EndProcessesOfOwner(OwnerPrefix(identity_.id().value));
  if (ended > 0) spdlog::warn("{} processes were left by a killed worker and are ended", ended);
  SweepPathAliases("/tmp", options_.state_dir);
  auto watchdog = Watchdog::Start(
      "/proc/self/exe", OwnerMark(identity_.id().value, started_at_.ms),
      [this](const SpawnOptions& options) { return engine_.processes().Spawn(options); });
  if (watchdog.ok()) {
    watchdog_.emplace(*std::move(watchdog));
  } else {
    spdlog::warn("no watchdog: {}", std::string(watchdog.status().message()));
  }
}

Agent::~Agent() {
  for (EventLoop::TimerId timer : {beat_timer_, log_timer_, disk_timer_, drain_timer_, stop_timer_,
                                   health_timer_, activity_timer_, first_timer_, held_timer_}) {
    loop_->Cancel(timer);
  }
  if (const pid_t asking = asking_device_; asking > 0) kill(asking, SIGKILL);
  making_.reset();
  environments_.reset();
  slots_.clear();
  session_.reset();
}

void Agent::Start() {
  expiry_ = std::make_unique<tls::ExpiryWatch>(options_.tls);
  session_ = std::make_unique<SessionClient>(
      loop_, options_.coordinator, options_.tls,
      SessionClient::Handlers{
          [this] { return MakeHello(); },
          [this](const v1::Welcome& welcome) { OnWelcome(welcome); },
          [this](const v1::CoordinatorMessage& message) { OnMessage(message); },
          [this](const std::string& reason) { OnLost(reason); },
      });
  environments_ = std::make_unique<EnvironmentWatch>(
      loop_, options_.environments_dir, [this](const EnvironmentWatch::Environments& usable) {
        engine_.SetEnvironments(usable);
        EnvironmentsChanged(usable);
        v1::WorkerMessage message;
        message.mutable_environments();
        for (const auto& [name, environment] : usable) {
          *message.mutable_environments()->add_environments() = ToProto(environment);
        }
        session_->Send(std::move(message));
      });
  if (environments_->usable().empty()) {
    spdlog::warn("no environment in {}; add one: dynbench-worker env add default --python PYTHON",
                 options_.environments_dir);
  }
  engine_.SetEnvironments(environments_->usable());
  WriteWorkerFile(false);
  StartMaking();
  first_timer_ = loop_->After(kFirstChecksMs, [this] { StartSession(); });
  CheckDisk();
  EnvironmentsChanged(environments_->usable());
}

void Agent::StartMaking() {
  EnvironmentWork::Services services;
  services.loop = loop_;
  services.environments_dir = options_.environments_dir;
  services.state_dir = options_.state_dir;
  services.variables = MarkedEnvironment(OwnerMark(identity_.id().value, started_at_.ms));
  services.processes = &engine_.processes();
  services.channel = session_->channel();
  services.report = [this](const v1::EnvironmentReport& report) {
    v1::WorkerMessage message;
    *message.mutable_environment() = report;
    session_->Send(std::move(message));
  };
  services.wants_rest = [this] { BlocksChanged(); };
  services.slots_rest = [this] {
    return !stopping_ &&
           std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->idle(); });
  };
  making_ = std::make_unique<EnvironmentWork>(std::move(services));
}

// Once: what a slot's first check says is in the first Hello, unless it takes long.
void Agent::StartSession() {
  loop_->Cancel(first_timer_);
  if (!std::exchange(session_started_, true)) session_->Start();
}

v1::Hello Agent::MakeHello() {
  v1::Hello hello;
  hello.set_protocol_version(proto::kProtocolVersion);
  hello.set_worker_id(identity_.id().value);
  hello.set_host(options_.inventory.host);
  hello.set_version(kVersion);
  hello.set_pool(options_.pool);
  for (const auto& [name, value] : options_.labels) (*hello.mutable_labels())[name] = value;
  hello.set_sent_unix_ms(UnixNow().ms);
  hello.set_makes_environments(true);
  hello.set_sends_objects(true);
  hello.set_takes_acknowledged_groups(true);
  hello.set_inventory_json(ToJson(options_.inventory).dump());
  for (const auto& [name, environment] : environments_->usable()) {
    *hello.add_environments() = ToProto(environment);
  }
  // What is owed: experiments of the slots, and results that nobody acknowledged yet.
  std::map<LeaseEpoch, std::pair<int, std::set<ExperimentId>>> held;
  for (size_t i = 0; i < slots_.size(); ++i) {
    *hello.add_slots() = ToProto(slots_[i]->shape(), BlockOf(i));
    for (const auto& [epoch, experiments] : slots_[i]->Held()) {
      held[epoch] = {slots_[i]->shape().index, experiments};
    }
  }
  for (const AttemptId& attempt : spool_.Attempts()) {
    held[attempt.lease].second.insert(attempt.experiment);
  }
  for (const auto& [epoch, what] : held) {
    v1::HeldLease& lease = *hello.add_held();
    lease.set_epoch(epoch.value);
    lease.set_slot(what.first);
    for (const ExperimentId& experiment : what.second) lease.add_experiments(experiment.value);
  }
  hello.set_spooled_results(spool_.size());
  hello.set_process_start_unix_ms(started_at_.ms);
  for (const AttemptId& attempt : journal_.died()) {
    // One whose result is in the spool died after its work was done.
    if (!spool_.Contains(attempt)) *hello.add_died() = proto::ToProto(attempt);
  }
  return hello;
}

void Agent::OnWelcome(const v1::Welcome& welcome) {
  if (welcome.verdict() == v1::Welcome::REFUSED) {
    spdlog::error("the coordinator at {} refuses this worker: {}", options_.coordinator,
                  welcome.reason());
    return;
  }
  if (welcome.verdict() == v1::Welcome::DEGRADED) spdlog::warn("degraded: {}", welcome.reason());
  spdlog::info("connected to {} (version {}) as {}", options_.coordinator,
               welcome.coordinator_version(), identity_.id().value);
  lost_reason_.clear();
  journal_.Reported();
  if (welcome.beat_interval_ms() > 0) beat_interval_ms_ = welcome.beat_interval_ms();
  WriteWorkerFile(true);
  for (const v1::AttemptFinished* finished : spool_.Results()) SendFinished(*finished);
  for (const auto& [attempt, returned] : std::exchange(untold_, {})) {
    v1::WorkerMessage message;
    *message.mutable_returned() = returned;
    session_->Send(std::move(message));
  }
  for (SlotState& state : states_) state.log.Again();
  TellActivities();
  RepeatReports();
  making_->NewSession();
  Beat();
  TellHeld();
}

void Agent::OnLost(const std::string& reason) {
  loop_->Cancel(beat_timer_);
  watched_.clear();  // asked for again by whoever still wants it
  WriteWorkerFile(false);
  // Tried again for ever: said once, and again when the reason is another one.
  if (reason == lost_reason_) return;
  lost_reason_ = reason;
  spdlog::warn("no session with {}: {}; trying again", options_.coordinator, reason);
}

void Agent::OnMessage(const v1::CoordinatorMessage& message) {
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kLease:
      return OnLease(message.lease());
    case v1::CoordinatorMessage::kRevoke:
      return OnRevoke(message.revoke());
    case v1::CoordinatorMessage::kAcknowledged:
      spool_.Remove(proto::FromProto(message.acknowledged().attempt()));
      for (const v1::AttemptId& attempt : message.acknowledged().more()) {
        spool_.Remove(proto::FromProto(attempt));
      }
      return;
    case v1::CoordinatorMessage::kWatchLog:
      return OnWatchLog(message.watch_log());
    case v1::CoordinatorMessage::kRestarting:
      spdlog::info("the coordinator restarts and expects to be back in {:.0f} s",
                   static_cast<double>(message.restarting().expected_ms()) / 1000);
      return;
    case v1::CoordinatorMessage::kDrain:
      return OnDrain(message.drain());
    case v1::CoordinatorMessage::kRelease:
      return OnRelease();
    case v1::CoordinatorMessage::kPreflight:
      return OnPreflight(message.preflight());
    case v1::CoordinatorMessage::kEnvironment:
      return making_->Order(message.environment());
    case v1::CoordinatorMessage::kBeat:
    case v1::CoordinatorMessage::kWelcome:
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:  // of a newer coordinator
      return;
  }
}

void Agent::OnLease(const v1::Lease& lease) {
  for (const auto& slot : slots_) {
    if (slot->shape().index == lease.slot()) return slot->Add(lease);
  }
  for (const v1::PlannedExperiment& experiment : lease.experiments()) {
    SendReturned({ExperimentId(experiment.id()), LeaseEpoch(lease.epoch())},
                 absl::StrCat("this worker has no slot ", lease.slot()), false);
  }
}

void Agent::OnRevoke(const v1::Revoke& revoke) {
  std::set<ExperimentId> experiments;
  for (const int64_t id : revoke.experiments()) experiments.insert(ExperimentId(id));
  for (const auto& slot : slots_) {
    slot->Revoke(LeaseEpoch(revoke.epoch()), experiments, revoke.reason());
  }
}

void Agent::CheckDisk() {
  loop_->Cancel(disk_timer_);
  disk_timer_ = loop_->After(kDiskEveryMs, [this] { CheckDisk(); });
  const int64_t free_bytes = FreeBytes(options_.state_dir);
  std::string reason;
  if (free_bytes >= 0 && free_bytes < options_.disk_low_bytes) {
    reason = absl::StrCat("disk low: ", Gib(free_bytes), " free in ", options_.state_dir, ", ",
                          Gib(options_.disk_low_bytes), " needed");
  }
  if (reason.empty()) reason = space_.Reason(MonotonicNow().ns / kNsPerMs);
  const absl::Status stored = spool_.Retry();
  if (!stored.ok()) {
    reason = absl::StrCat("results cannot be written: ", std::string(stored.message()));
  }
  // The figure alone moves all the time; it is told when acceptance changes.
  if (reason.empty() == disk_reason_.empty()) return;
  disk_reason_ = reason;
  BlocksChanged();
}

void Agent::WriteWorkerFile(bool connected) {
  if (told_connected_ == connected) return;
  told_connected_ = connected;
  const nlohmann::json json = {{"schema", "dynbench.worker/1"},
                               {"pid", getpid()},
                               {"worker_id", identity_.id().value},
                               {"coordinator", options_.coordinator},
                               {"connected", connected}};
  const absl::Status written =
      WriteFileDurably(options_.state_dir + "/worker.json", json.dump() + "\n");
  if (!written.ok()) spdlog::warn("{}", written.ToString());
}

std::set<AttemptId> Agent::Running() const {
  std::set<AttemptId> all;
  for (const auto& slot : slots_) all.merge(slot->Running());
  return all;
}

Slot* Agent::SlotOf(const AttemptId& attempt) {
  for (const auto& slot : slots_) {
    if (slot->LogOf(attempt) != nullptr) return slot.get();
  }
  return nullptr;
}

}  // namespace dynbench::worker

// The checks of slots and environments (worker/host/preflight.h, SlotHealth), and the telling of
// what slots do.
#include <algorithm>
#include <utility>

#include "common/base/time.h"
#include "spdlog/spdlog.h"
#include "worker/agent/agent.h"
#include "worker/agent/slot_sharing.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kTellActivityMs = 500;

int64_t NowMs() { return MonotonicNow().ns / kNsPerMs; }

}  // namespace

void Agent::LookAtHealth() {
  loop_->Cancel(health_timer_);
  const int64_t now_ms = NowMs();
  int64_t next_ms = -1;
  const auto look = [&](const SlotHealth& health) {
    if (health.next_ms() < 0) return;
    next_ms = next_ms < 0 ? health.next_ms() : std::min(next_ms, health.next_ms());
  };
  if (!stopping_) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!states_[i].health.Due(now_ms)) {
        look(states_[i].health);
      } else if (slots_[i]->idle()) {
        CheckSlot(i);
      } else {
        // A check would be in the measurement of what runs: nothing new begins, and the slot's end
        // of work leads here again.
        BlocksChanged();
      }
    }
    for (auto& [name, health] : environment_health_) {
      if (health.Due(now_ms)) CheckEnvironment(name);
      look(health);
    }
  }
  if (next_ms < 0) return;
  health_timer_ = loop_->After(std::max<int64_t>(1, next_ms - now_ms), [this] { LookAtHealth(); });
}

PreflightSpec Agent::SpecOf(size_t i) const {
  const SlotShape& shape = slots_[i]->shape();
  PreflightSpec spec;
  spec.state_dir = options_.state_dir;
  spec.device = shape.device;
  spec.device_uuid = shape.device_uuid;
  spec.device_is_free = slots_[i]->idle();
  spec.stuck = states_[i].stuck;
  for (const auto& [name, environment] : environments_->usable()) {
    const auto& devices = environment.facts.devices;
    if (std::find(devices.begin(), devices.end(), shape.device) == devices.end()) continue;
    spec.python = environment.facts.python;
    break;
  }
  return spec;
}

void Agent::CheckSlot(size_t i) {
  states_[i].health.Begin();
  BlocksChanged();
  NoteActivity(i);
  PreflightSpec spec = SpecOf(i);
  spec.spawn = [this](const SpawnOptions& options) {
    auto pid = engine_.processes().Spawn(options);
    if (pid.ok()) asking_device_ = *pid;
    return pid;
  };
  spec.ended = [this](pid_t pid) {
    asking_device_ = 0;
    engine_.processes().Disown(pid);
  };
  checker_.loop()->Post([this, i, spec] {
    const PreflightFinding finding = RunPreflight(spec, *options_.gpus);
    loop_->Post([this, i, finding] { OnSlotChecked(i, finding); });
  });
}

void Agent::OnSlotChecked(size_t i, const PreflightFinding& finding) {
  SlotHealth& health = states_[i].health;
  if (finding.check.empty()) {
    health.Passed();
    states_[i].stuck.clear();
  } else {
    health.Failed(finding.check, finding.reason, NowMs());
  }
  ReportCheck(i, "", finding.check, finding.reason);
  NoteActivity(i);
  BlocksChanged();
  LookAtHealth();
  if (std::none_of(states_.begin(), states_.end(), [](const SlotState& state) {
        return state.health.first() && !state.health.failed();
      })) {
    StartSession();
  }
}

void Agent::CheckEnvironment(const std::string& name) {
  environment_health_.at(name).Begin();
  engine_.Probe(name, [this, name](const absl::Status& status) {
    loop_->Post([this, name, status] { OnEnvironmentChecked(name, status); });
  });
}

void Agent::OnEnvironmentChecked(const std::string& name, const absl::Status& status) {
  const auto it = environment_health_.find(name);
  if (it == environment_health_.end()) return;  // it was removed meanwhile
  const bool silent = status.ok() && !it->second.failed();
  const std::string reason(status.message());
  if (status.ok()) {
    it->second.Passed();
  } else {
    spdlog::error("environment {} does not work: {}", name, reason);
    it->second.Failed("runner", reason, NowMs());
  }
  for (size_t i = 0; i < slots_.size() && !silent; ++i) {
    ReportCheck(i, name, status.ok() ? "" : "runner", reason);
  }
  BlocksChanged();
  LookAtHealth();
}

void Agent::ReportCheck(size_t i, const std::string& environment, const std::string& failed_check,
                        const std::string& reason) {
  v1::WorkerMessage message;
  v1::PreflightReport& report = *message.mutable_preflight();
  report.set_slot(slots_[i]->shape().index);
  report.set_environment(environment);
  report.set_passed(failed_check.empty());
  report.set_failed_check(failed_check);
  report.set_reason(reason);
  session_->Send(std::move(message));
}

// What a new session must know: failures that were found before it.
void Agent::RepeatReports() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    for (const auto& [name, health] : environment_health_) {
      if (health.failed()) ReportCheck(i, name, health.failed_check(), health.Reason());
    }
  }
}

void Agent::OnPreflight(const v1::Preflight& preflight) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (preflight.slot() < 0 || preflight.slot() == slots_[i]->shape().index) {
      states_[i].health.Recheck();
    }
  }
  for (auto& [name, health] : environment_health_) health.Recheck();
  LookAtHealth();
}

void Agent::EnvironmentsChanged(const EnvironmentWatch::Environments& usable) {
  std::map<std::string, SlotHealth> health;
  for (const auto& [name, environment] : usable) {
    // Another content under the same name is looked at again.
    const auto known = environment_health_.find(name);
    const std::string content =
        environment.hash + environment.runner_dir + environment.facts.python;
    const bool same = known != environment_health_.end() && environment_hashes_[name] == content;
    health.emplace(name, same ? known->second : SlotHealth(options_.recheck_ms));
    environment_hashes_[name] = content;
  }
  environment_health_.clear();
  for (const auto& [name, state] : health) environment_health_.emplace(name, state);
  LookAtHealth();
}

// A result says how the slot is; a bad device is looked at before anything else runs on it.
void Agent::OnEnded(size_t i, const plan::Result& result) {
  SlotHealth& health = states_[i].health;
  if (DeviceFailed(result)) {
    spdlog::warn("slot {}: the device {}; it is checked", slots_[i]->shape().index,
                 result.status == "gpu_hang" ? "hung" : "was lost");
    health.DeviceError();
  } else if (InfrastructureFailed(result)) {
    health.Trouble();
  } else {
    health.Worked();
    space_.Worked(NowMs());
  }
  if (InfrastructureFailed(result) && result.status == plan::kNoSpace) {
    space_.Failed(result.error, NowMs());
    CheckDisk();
    BlocksChanged();  // what waits here goes back, also where the disk was low before
  }
  if (!health.healthy()) return LookAtHealth();
  if (!slots_[i]->shape().device_uuid.empty()) LookAtMemory(i);
}

void Agent::OnTrouble(size_t i) {
  states_[i].health.Trouble();
  if (states_[i].health.healthy()) return;
  spdlog::warn("slot {}: {} infrastructure failures in a row; it is checked",
               slots_[i]->shape().index, SlotHealth::kTroubles);
  for (auto& [name, health] : environment_health_) health.Recheck();
  LookAtHealth();
}

// Nothing runs on a slot beside a process that could not be ended: quarantined until it is gone.
void Agent::OnStuck(size_t i, const std::vector<StuckProcess>& processes) {
  SlotState& state = states_[i];
  for (const StuckProcess& stuck : processes) {
    spdlog::error("slot {}: process {} ({}) did not end after KILL", slots_[i]->shape().index,
                  stuck.process.pid, stuck.command);
    state.stuck.push_back(stuck);
  }
  state.health.DeviceError();
  LookAtHealth();
}

// Between two experiments the device must be as empty as before; who holds it is named.
void Agent::LookAtMemory(size_t i) {
  checker_.loop()->Post([this, i, uuid = slots_[i]->shape().device_uuid] {
    const auto use = options_.gpus->Use(uuid);
    if (!use) return;
    loop_->Post([this, i, use = *use] {
      if (!slots_[i]->idle() || !states_[i].health.healthy()) return;
      if (CheckDeviceMemory(use, /*device_is_free=*/true, &IsBelowUs).ok()) return;
      // Memory is given back a moment after a process ends: the whole check decides.
      states_[i].health.DeviceError();
      LookAtHealth();
    });
  });
}

void Agent::NoteActivity(size_t i) {
  SlotState& state = states_[i];
  const bool checking =
      state.lanes == Activity::kIdle && !state.health.healthy() && !state.health.failed();
  state.log.Set(checking ? Activity::kPreflight : state.lanes, UnixNow().ms);
  if (state.lanes == Activity::kIdle && making_) {
    loop_->Post([this] { making_->SlotsChanged(); });
  }
  if (state.lanes == Activity::kIdle && state.health.Due(NowMs())) {
    loop_->Post([this] { LookAtHealth(); });
  }
  if (state.log.changed() && activity_timer_ == 0) {
    activity_timer_ = loop_->After(kTellActivityMs, [this] { TellActivities(); });
  }
}

// Without a session the changes wait: the coordinator hears late what was when.
void Agent::TellActivities() {
  loop_->Cancel(std::exchange(activity_timer_, 0));
  if (!session_->connected()) return;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!states_[i].log.changed()) continue;
    for (const ActivityChange& change : states_[i].log.Take()) {
      v1::WorkerMessage message;
      v1::SlotActivity& activity = *message.mutable_activity();
      activity.set_slot(slots_[i]->shape().index);
      activity.set_activity(std::string(WordOf(change.activity)));
      activity.set_since_unix_ms(change.since_ms);
      session_->Send(std::move(message));
    }
  }
}

}  // namespace dynbench::worker

// What the slots are given and what they tell.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/dynbench/convert.h"
#include "worker/agent/agent.h"
#include "worker/host/host_settings.h"

namespace dynbench::worker {

void Agent::AddSlots() {
  const SlotServices services = ServicesOfSlots();
  for (const SlotShape& shape : options_.slots) {
    const size_t i = slots_.size();
    states_.push_back(
        {SlotHealth(options_.recheck_ms), ActivityLog(started_at_.ms), Activity::kIdle, "none"});
    slots_.push_back(std::make_unique<Slot>(shape, services, ReportsOfSlot(i)));
  }
}

SlotServices Agent::ServicesOfSlots() {
  SlotServices services;
  services.loop = loop_;
  services.preparer = preparer_.loop();
  services.janitor = janitor_.loop();
  services.engine = &engine_;
  services.folders = &folders_;
  services.caches = &caches_;
  services.artifacts = &artifacts_;
  services.state_dir = options_.state_dir;
  services.fetch_file = [this](const std::string& sha256) { return files_.Get(sha256); };
  services.environment = [this](const std::string& name) -> std::optional<Environment> {
    const auto it = environments_->usable().find(name);
    if (it == environments_->usable().end()) return std::nullopt;
    return it->second;
  };
  services.profile = options_.profile;
  services.gpu_state = [gpus = options_.gpus](const std::string& uuid) {
    std::optional<GpuState> state = gpus ? gpus->State(uuid) : std::nullopt;
    if (!state) return state;
    const std::optional<GpuUse> use = gpus->Use(uuid);
    if (use) state->foreign_processes = ForeignProcesses(*use, ListProcesses(), getpid());
    return state;
  };
  services.host_settings = [root = options_.host_root] { return ReadChangingSettings(root); };
  return services;
}

SlotReports Agent::ReportsOfSlot(size_t i) {
  SlotReports reports;
  reports.started = [this](const v1::AttemptStarted& started) {
    held_.Started(started);
    TellSoon();
  };
  reports.phase = [this](const AttemptId& attempt, plan::Phase phase) {
    held_.Phase(attempt, phase);
    TellSoon();
  };
  reports.finished = [this](const v1::AttemptFinished& finished) { OnFinished(finished); };
  reports.returned = [this](const AttemptId& attempt, const std::string& reason,
                            bool infrastructure) { SendReturned(attempt, reason, infrastructure); };
  reports.phase_limit = [this](const AttemptId& attempt, const std::string& reason) {
    v1::AttemptReturned returned;
    *returned.mutable_attempt() = proto::ToProto(attempt);
    returned.set_reason(reason);
    returned.set_phase_limit(true);
    SendReturned(returned);
  };
  reports.infrastructure_failed = [this](const AttemptId& attempt, const std::string& status,
                                         const std::string& reason) {
    v1::AttemptReturned returned;
    *returned.mutable_attempt() = proto::ToProto(attempt);
    returned.set_reason(reason);
    returned.set_infrastructure_failure(true);
    returned.set_status(status);
    SendReturned(returned);
  };
  reports.running_changed = [this] { journal_.SetRunning(Running()); };
  reports.activity = [this, i](Activity activity) {
    states_[i].lanes = activity;
    NoteActivity(i);
  };
  reports.ended = [this, i](const plan::Result& result) { OnEnded(i, result); };
  reports.trouble = [this, i] { OnTrouble(i); };
  reports.stuck = [this, i](const std::vector<StuckProcess>& stuck) { OnStuck(i, stuck); };
  return reports;
}

}  // namespace dynbench::worker

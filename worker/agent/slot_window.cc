// The device's window: one attempt of the slot has it alone, all others stand still.
#include <utility>
#include <vector>

#include "common/base/window_flags.h"
#include "common/plan/script_command.h"
#include "worker/agent/slot.h"
#include "worker/agent/slot_run.h"
#include "worker/agent/slot_sharing.h"
#include "worker/host/host_settings.h"

namespace dynbench::worker {

// Who benchmarks kernels needs the device; who samples, the host as well.
bool Slot::StandsStill(const Run& other, DeviceUse use) const {
  return use == DeviceUse::kMeasure || !other.off_device;
}

void Slot::OnOffDevice(const std::shared_ptr<Run>& run) {
  run->off_device = true;
  const auto holder = running_.find(arbiter_.holder().value_or(run->planned.id));
  if (holder == running_.end() || holder->second == run) return;
  // It was stopped just after it said so.
  if (!StandsStill(*run, holder->second->use)) services_.engine->Thaw({run->planned.id});
}

// The window is out already, so nobody can take it again: the row says so.
void Slot::OnRunsOn(const std::shared_ptr<Run>& run) {
  const auto holder = running_.find(arbiter_.holder().value_or(run->planned.id));
  if (holder == running_.end() || holder->second == run) return;
  holder->second->later_window_flags |= kUnfrozenLane;
}

void Slot::OnWindow(const std::shared_ptr<Run>& run, DeviceUse use,
                    std::function<void(int64_t)> granted) {
  if (running_.count(run->planned.id) == 0) return;
  run->window_granted = std::move(granted);
  run->use = use;
  run->asks = true;
  SetActivity(run, Activity::kWaitingForWindow);
  if (use == DeviceUse::kMeasure && AwaitsCompanion(run)) return;
  if (arbiter_.Request(run->planned.id)) GrantWindow(run->planned.id);
}

void Slot::GrantWindow(const AttemptId& attempt) {
  const auto it = running_.find(attempt);
  if (it == running_.end()) return ReleaseWindow(attempt);
  const std::shared_ptr<Run> run = it->second;
  if (run->use == DeviceUse::kReturn) {
    run->off_device = false;
    run->asks = false;
    SetActivity(run, Activity::kCompiling);
    run->window_granted(0);
    return ReleaseWindow(attempt);
  }
  std::vector<AttemptId> others, bystanders;
  for (const auto& [id, other] : running_) {
    if (id == attempt || !other->in_engine) continue;
    (StandsStill(*other, run->use) ? others : bystanders).push_back(id);
  }
  // The window before this one may have stopped them.
  if (shape_.freeze && !bystanders.empty()) services_.engine->Thaw(bystanders);
  if (others.empty() || !shape_.freeze) {
    return GiveWindow(run, others.empty() ? 0 : kUnfrozenLane);
  }
  services_.engine->Freeze(others, [this, run, alive = std::weak_ptr<bool>(alive_)](bool all) {
    services_.loop->Post([this, run, all, alive] {
      if (alive.expired() || arbiter_.holder() != run->planned.id) return;
      GiveWindow(run, all ? 0 : kUnfrozenLane);
    });
  });
}

void Slot::GiveWindow(const std::shared_ptr<Run>& run, int64_t flags) {
  if (run->use == DeviceUse::kBenchmark) {
    run->compile_window_flags |= flags;
  } else {
    run->window_flags = flags;
  }
  SetActivity(run, Activity::kMeasuring);
  run->asks = false;
  run->window_granted(flags);
}

WindowState Slot::LookInWindow(const Run& run) const {
  WindowState state;
  state.flags = run.window_flags;
  if (shape_.device_uuid.empty() || !services_.gpu_state) return state;
  const std::optional<GpuState> device = services_.gpu_state(shape_.device_uuid);
  if (!device) return state;
  state.device_clock_mhz = device->clock_mhz;
  state.device_throttle_reasons = device->throttle_reasons;
  state.device_foreign_processes = device->foreign_processes;
  state.flags |= FlagsOf(*device);
  return state;
}

// Clocks fall within moments once the work is over, so at once; the driver answers in microseconds.
void Slot::LookAtDevice(Run& run) const {
  if (run.phase != plan::Phase::kMeasure || run.use != DeviceUse::kMeasure ||
      shape_.device_uuid.empty() || !services_.gpu_state) {
    return;
  }
  run.gpu_state = services_.gpu_state(shape_.device_uuid);
}

void Slot::ReleaseWindow(const AttemptId& attempt) {
  if (PassTurn(attempt)) return;
  const bool had_it = arbiter_.holder() == attempt;
  const auto next = arbiter_.Release(attempt);
  if (!had_it) return;
  const auto it = running_.find(attempt);
  if (it != running_.end() && it->second->activity == Activity::kMeasuring) {
    LookAtDevice(*it->second);
    SetActivity(it->second, Activity::kCompiling);
  }
  if (next) {
    // The next holder runs again; everybody else stays frozen, and the last one is frozen now.
    services_.engine->Thaw({*next});
    return GrantWindow(*next);
  }
  std::vector<AttemptId> going;
  for (const auto& [id, run] : running_) {
    if (!run->parked) going.push_back(id);
  }
  services_.engine->Thaw(going);
  for (const auto& run : std::exchange(held_back_, {})) {
    if (run->dropped) {
      Drop(run);
    } else if (!run->give_back.empty()) {
      OnReturned(run, run->give_back);
    } else {
      Launch(run);
    }
  }
  StartNext();
}

// What is measured is compared over time; programs may be over within milliseconds.
bool Slot::LooksAtHost(const Run& run) const {
  return services_.host_settings && !run.preparing &&
         run.experiment.test == plan::Test::kPerformance &&
         run.experiment.engine == plan::kNativeEngine;
}

std::string Slot::HostChanged(const Run& run, const plan::Result& result) const {
  if (!LooksAtHost(run) || result.outcome != plan::Outcome::kPassed) return "";
  const std::string changed = ChangedSettings(run.host_settings, services_.host_settings());
  return changed.empty() ? "" : "the host was changed while it was measured: " + changed;
}

}  // namespace dynbench::worker

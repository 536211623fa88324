#include "tests/simulation/faults.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace dynbench::simulation {
namespace {

constexpr int64_t kReleaseAgainNs = 20 * kNsPerSecond;

bool IsOfCoordinator(const std::string& name) {
  return absl::StrContains(name, "coordinator") || name == "calendar_jump";
}

}  // namespace

Faults::Faults(World* world, const Scenario* scenario, Coordinator* coordinator,
               std::vector<std::unique_ptr<Worker>>* workers)
    : world_(world), scenario_(scenario), coordinator_(coordinator), workers_(workers) {}

void Faults::Start() {
  for (const auto& [name, fault] : scenario_->faults) Schedule(name, fault);
  world_->timeline.After(static_cast<int64_t>(scenario_->faults_for_s * kNsPerSecond),
                         [this] { End(); });
}

void Faults::Schedule(const std::string& name, const Fault& fault) {
  const double targets = IsOfCoordinator(name) ? 1 : static_cast<double>(workers_->size());
  const double hours = world_->random.UntilNext(fault.per_hour * targets);
  // A fault of a scenario outlives this object no more than the scenario does.
  world_->timeline.After(static_cast<int64_t>(hours * 3'600 * kNsPerSecond), [this, name, &fault] {
    if (ended_) return;
    Happen(name, fault);
    Schedule(name, fault);
  });
}

void Faults::Happen(const std::string& name, const Fault& fault) {
  Random& random = world_->random;
  const auto ns = static_cast<int64_t>(random.In(fault.seconds) * kNsPerSecond);
  if (name == "kill_coordinator") {
    if (!coordinator_->up()) return;
    coordinator_->Kill(random.Chance(fault.silent));
    world_->timeline.After(std::max(ns, kNsPerMs), [this] { coordinator_->Start(); });
  } else if (name == "restart_coordinator") {
    coordinator_->Stop([this, ns] {
      world_->timeline.After(std::max(ns, kNsPerMs), [this] { coordinator_->Start(); });
    });
  } else if (name == "pause_coordinator") {
    coordinator_->Pause(ns);
  } else if (name == "coordinator_disk_full") {
    world_->Note("coordinator's disk is full", -1);
    coordinator_->disk()->full_until =
        std::max(coordinator_->disk()->full_until, world_->now() + ns);
  } else if (name == "calendar_jump") {
    world_->Note("calendar jumps", -1);
    world_->calendar_offset_ms += (random.Chance(0.5) ? ns : -ns) / kNsPerMs;
  } else {
    Worker* worker =
        (*workers_)[static_cast<size_t>(random.Below(static_cast<int64_t>(workers_->size())))]
            .get();
    ToWorker(name, fault, worker);
  }
}

void Faults::Release(int worker, std::optional<int> slot) {
  auto done = std::make_shared<bool>(false);
  coordinator_->Release(worker, slot, [done](bool released) { *done = *done || released; });
  // An operator looks after a while, and asks again when nothing came of it.
  world_->timeline.After(kReleaseAgainNs, [this, worker, slot, done] {
    if (!*done) Release(worker, slot);
  });
}

void Faults::ToWorker(const std::string& name, const Fault& fault, Worker* worker) {
  Random& random = world_->random;
  const auto ns = static_cast<int64_t>(random.In(fault.seconds) * kNsPerSecond);
  const bool silent = random.Chance(fault.silent);
  const auto boot_later = [this, worker, ns] {
    world_->timeline.After(std::max(ns, kNsPerMs), [worker] { worker->Boot(); });
  };
  if (name == "cut") {
    worker->CutStream(silent);
  } else if (name == "partition") {
    world_->Note(silent ? "partition of one way" : "partition", worker->number());
    const MonotonicTime until = world_->now() + ns;
    Cable* cable = worker->cable();
    const bool up = random.Chance(0.5);
    if (!silent || up) cable->up_blocked_until = std::max(cable->up_blocked_until, until);
    if (!silent || !up) cable->down_blocked_until = std::max(cable->down_blocked_until, until);
  } else if (name == "kill_worker") {
    if (!worker->up()) return;
    worker->Kill(silent);
    boot_later();
  } else if (name == "stop_worker") {
    worker->Stop(boot_later);
  } else if (name == "drain_worker") {
    coordinator_->Drain(worker->number(), random.Below(60'000));
    world_->timeline.After(ns, [this, n = worker->number()] { Release(n, std::nullopt); });
  } else if (name == "quarantine_slot") {
    coordinator_->Quarantine(worker->number(), 0);
    world_->timeline.After(ns, [this, n = worker->number()] { Release(n, 0); });
  } else if (name == "pause_worker") {
    worker->Pause(ns);
  } else if (name == "worker_disk_full") {
    worker->FillDisk(ns);
  }
}

}  // namespace dynbench::simulation

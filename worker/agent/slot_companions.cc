// Base and new of one round side by side: the second begins when the first is ready, the first
// standing still meanwhile; then their blocks alternate, the other one standing still. Whatever
// ends one of them, the other goes on at once.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/window_flags.h"
#include "common/plan/pairs.h"
#include "worker/agent/block_order.h"
#include "worker/agent/slot.h"
#include "worker/agent/slot_run.h"

namespace dynbench::worker {
namespace {

bool IsFresh(const plan::Experiment& experiment) { return experiment.side == plan::kNewSide; }

}  // namespace

std::shared_ptr<Slot::Run> Slot::CompanionOf(const Run& run) const {
  for (const auto& [id, other] : running_) {
    const bool one_lease =
        id.lease == run.planned.id.lease && other->planned.job == run.planned.job;
    if (one_lease && AreOneRound(run.experiment, other->experiment)) return other;
  }
  return nullptr;
}

std::deque<Slot::Planned>::iterator Slot::QueuedCompanionOf(const Run& run) {
  if (run.experiment.pair == 0) return queue_.end();
  return std::find_if(queue_.begin(), queue_.end(), [&](Planned& planned) {
    if (planned.id.lease != run.planned.id.lease || planned.job != run.planned.job) return false;
    if (!planned.experiment) {
      auto experiment = plan::ExperimentFromJson(planned.json);
      if (!experiment.ok()) return false;  // to be given back
      planned.experiment = *std::move(experiment);
    }
    return AreOneRound(run.experiment, *planned.experiment);
  });
}

// In how many windows it takes its samples: one when there is nobody to alternate with.
int Slot::BlocksFor(const Run& run) {
  if (run.preparing || run.parted || run.owns_slot || !shape_.freeze) return 1;
  const int blocks = WindowBlocks(run.experiment);
  if (blocks == 1) return 1;
  const auto other = CompanionOf(run);
  if (other ? !other->parted : QueuedCompanionOf(run) != queue_.end()) return blocks;
  return 1;
}

// It is ready. True: its window comes later, with the other side's or in its turn.
bool Slot::AwaitsCompanion(const std::shared_ptr<Run>& run) {
  if (run->window_blocks == 1 || run->parted) return false;
  if (run->blocks) return run->blocks->fresh() != IsFresh(run->experiment);
  auto other = CompanionOf(*run);
  // While somebody measures nobody begins; StartNext comes back to it.
  const bool later = !other && WindowTaken() && QueuedCompanionOf(*run) != queue_.end();
  if (!other && !later) other = BeginCompanion(*run);
  if (!later && (!other || other->parted)) {
    run->parted = true;
    return false;
  }
  if (other && other->parked) {
    Alternate(run, other);
    return true;
  }
  run->parked = true;
  services_.engine->Freeze({run->planned.id}, [](bool) {});  // it only waits, frozen or not
  return true;
}

// The other side begins on the lane of this one. Null: it cannot now, or is gone.
std::shared_ptr<Slot::Run> Slot::BeginCompanion(const Run& run) {
  const auto place = QueuedCompanionOf(run);
  if (place == queue_.end() || !waiting_alone_.empty()) return nullptr;
  if (shape_.device_index >= 0) {
    std::vector<const plan::Experiment*> running;
    for (const auto& [id, other] : running_) running.push_back(&other->experiment);
    if (!device_memory_.Fits(*place->experiment, running, shape_.memory_bytes)) return nullptr;
  }
  Planned planned = std::move(*place);
  queue_.erase(place);
  planned.companions_lanes = run.lanes;
  Begin(std::move(planned));
  return CompanionOf(run);
}

void Slot::BeginCompanions() {
  std::vector<std::shared_ptr<Run>> parked;
  for (const auto& [id, run] : running_) {
    if (run->parked && !CompanionOf(*run)) parked.push_back(run);
  }
  for (const std::shared_ptr<Run>& run : parked) {
    if (!WindowTaken() && !BeginCompanion(*run)) GoOn(run);
  }
}

// Both are ready.
void Slot::Alternate(const std::shared_ptr<Run>& run, const std::shared_ptr<Run>& other) {
  const auto blocks =
      std::make_shared<BlockOrder>(run->planned.job, run->experiment, run->window_blocks);
  run->blocks = other->blocks = blocks;
  run->block_order = other->block_order = blocks->ToString();
  run->parked = other->parked = false;
  const AttemptId first = (IsFresh(run->experiment) == blocks->fresh() ? run : other)->planned.id;
  if (!arbiter_.Request(first)) return;
  services_.engine->Thaw({first});
  GrantWindow(first);
}

// At the end of a window. True: it went on to the side whose turn it is. Nobody else gets it, and
// nobody else runs, until both are through: one block of others would be as long as all of these.
bool Slot::PassTurn(const AttemptId& attempt) {
  const auto it = running_.find(attempt);
  if (it == running_.end() || !it->second->blocks || arbiter_.holder() != attempt) return false;
  const std::shared_ptr<Run> run = it->second;
  const std::shared_ptr<Run> other = CompanionOf(*run);
  const std::shared_ptr<BlockOrder> blocks = run->blocks;
  // One that began badly is taken again.
  if ((run->window_flags & kUnfrozenLane) == 0) blocks->Next();
  if (blocks->done()) {
    run->blocks = other->blocks = nullptr;
    run->parted = other->parted = true;
    return false;
  }
  LookAtDevice(*run);
  SetActivity(run, Activity::kWaitingForWindow);
  const std::shared_ptr<Run>& next = IsFresh(run->experiment) == blocks->fresh() ? run : other;
  const AttemptId id = next->planned.id;
  arbiter_.Pass(attempt, id);
  services_.engine->Thaw({id});
  if (next->asks) GrantWindow(id);
  return true;
}

// It will measure no more beside the other side, or at all.
void Slot::Part(const std::shared_ptr<Run>& run) {
  if (std::exchange(run->parted, true)) return;
  run->parked = false;
  const std::shared_ptr<BlockOrder> blocks = std::exchange(run->blocks, nullptr);
  const std::shared_ptr<Run> other = CompanionOf(*run);
  if (!other || other->parted) return;
  // One that is through may end while the other one has the last window.
  if (blocks && blocks->Left(IsFresh(run->experiment)) > 0) {
    run->block_order.clear();
    other->block_order.clear();
  }
  other->blocks = nullptr;
  GoOn(other);
  ReleaseWindow(run->planned.id);
}

// By itself. Whoever has the window now, this one comes after.
void Slot::GoOn(const std::shared_ptr<Run>& run) {
  run->parted = true;
  run->parked = false;
  if (!run->asks || arbiter_.holder() == run->planned.id) return;  // it is being given to it
  if (!arbiter_.Request(run->planned.id)) return;
  services_.engine->Thaw({run->planned.id});
  GrantWindow(run->planned.id);
}

}  // namespace dynbench::worker

// Who may run beside whom: lanes and their cores, experiments that own the slot, and those that ran
// out of memory beside others.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "worker/agent/slot.h"
#include "worker/agent/slot_run.h"
#include "worker/agent/slot_sharing.h"

namespace dynbench::worker {

bool Slot::MayBegin(Planned& planned) {
  if (shape_.lanes == 1 || running_.empty()) return true;
  const bool owned = std::any_of(running_.begin(), running_.end(),
                                 [](const auto& entry) { return entry.second->owns_slot; });
  if (owned) return false;
  if (!planned.experiment) {
    auto experiment = plan::ExperimentFromJson(planned.json);
    if (!experiment.ok()) return true;  // to be given back
    planned.experiment = *std::move(experiment);
  }
  if (OwnsSlot(*planned.experiment)) return false;
  if (shape_.device_index < 0) return true;
  std::vector<const plan::Experiment*> running;
  for (const auto& [id, run] : running_) running.push_back(&run->experiment);
  return device_memory_.Fits(*planned.experiment, running, shape_.memory_bytes);
}

std::vector<int> Slot::FreeLanes() const {
  std::set<int> taken;
  for (const auto& [id, run] : running_) taken.insert(run->lanes.begin(), run->lanes.end());
  std::vector<int> free;
  for (int lane = 0; lane < shape_.lanes; ++lane) {
    if (taken.count(lane) == 0) free.push_back(lane);
  }
  return free;
}

std::vector<int> Slot::CoresOf(const Run& run) const {
  const bool own_share = !run.owns_slot || run.had_company;
  if (!own_share || shape_.lane_cores.empty()) return shape_.cores;
  std::vector<int> cores;
  for (const int lane : run.lanes) {
    const std::vector<int>& own = shape_.lane_cores[lane];
    cores.insert(cores.end(), own.begin(), own.end());
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

bool Slot::WantsToRunAlone(const Run& run, const plan::Result& result) const {
  return run.had_company && !run.owns_slot && RanOutOfMemory(result);
}

// On the cores of its lane, so that its compile time stays comparable.
void Slot::RunAgainAlone(const std::shared_ptr<Run>& run) {
  run->notes.push_back("ran out of memory beside other lanes; run again alone");
  run->owns_slot = true;
  run->preparing = false;
  run->prepared_here = false;
  run->shared_dir.clear();
  SetActivity(run, Activity::kWaitingForWindow);
  Part(run);
  ReleaseWindow(run->planned.id);
  waiting_alone_.push_back(run);
  StartNext();
}

// True: nobody else may begin. The others that run come to their end first.
bool Slot::StartWaitingAlone() {
  if (waiting_alone_.empty()) return false;
  if (running_.size() > waiting_alone_.size()) return true;
  const std::shared_ptr<Run> run = std::move(waiting_alone_.front());
  waiting_alone_.pop_front();
  SetActivity(run, Activity::kPreparing);
  MakeReady(run);
  return true;
}

}  // namespace dynbench::worker

// Attempts that end without a result and are run again.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"
#include "worker/agent/slot.h"
#include "worker/agent/slot_run.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kRestAfterTroubleMs = 1'000;

}  // namespace

void Slot::OnReturned(const std::shared_ptr<Run>& run, const std::string& reason) {
  run->in_engine = false;
  Part(run);
  RemoveWork(*run);
  const bool wanted = !run->give_back.empty();
  const auto report = [this, run, reason, wanted] {
    if (!run->dropped) {
      reports_.returned(run->planned.id, wanted ? run->give_back : reason, !wanted);
    }
    Forget(run);
  };
  if (wanted || run->dropped) return report();
  // Trouble of this host: the slot rests, or retries would be spent within a moment.
  spdlog::error("slot {}: {} is returned: {}", shape_.index, plan::DisplayName(run->experiment),
                reason);
  SetActivity(run, Activity::kCleaning);
  reports_.trouble();
  services_.loop->After(kRestAfterTroubleMs, [report, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) report();
  });
}

// No result: another device, or another host, may well measure it. The slot is closed first where
// that must be, so that nothing else is leased to it meanwhile. Nobody else has the log, so the
// folder is kept as of a failure; of a full disk without the files that filled it.
void Slot::OnInfrastructureFailed(const std::shared_ptr<Run>& run, const plan::Result& result,
                                  const std::string& log) {
  const std::string reason = absl::StrCat(
      result.status, " in phase ", std::string(plan::ToString(result.phase)), ": ", result.error);
  const std::string note = absl::StrCat(plan::DisplayName(run->experiment), ": ", reason);
  spdlog::error("slot {}: {}", shape_.index, note);
  const bool full = result.status == plan::kNoSpace;
  services_.janitor->Post([services = services_, run, log, note, full] {
    if (full) services.folders->Empty(run->work);
    services.folders->Keep(run->work, run->planned.json, log, note);
  });
  reports_.ended(result);
  reports_.infrastructure_failed(run->planned.id, result.status, reason);
  Forget(run);
}

// Its work folder is kept, as of a failure: somebody may want to see why it took so long.
void Slot::OnPhaseLimit(const std::shared_ptr<Run>& run, const std::string& reason,
                        const std::string& log) {
  run->in_engine = false;
  SetActivity(run, Activity::kCleaning);
  Part(run);
  const std::string note =
      absl::StrCat(plan::DisplayName(run->experiment), ": ended early: ", reason);
  services_.janitor->Post([services = services_, run, log, note] {
    services.folders->Keep(run->work, run->planned.json, log, note);
  });
  if (!run->dropped && !run->give_back.empty()) {
    reports_.returned(run->planned.id, run->give_back, /*infrastructure=*/false);
  } else if (!run->dropped) {
    reports_.phase_limit(run->planned.id, reason);
  }
  Forget(run);
}

}  // namespace dynbench::worker

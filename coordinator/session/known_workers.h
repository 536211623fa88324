// The workers that the store knows from before, as the scheduler takes them: so that experiments
// wait for a worker that is away, instead of being given up after a restart of the coordinator.
#pragma once

#include <vector>

#include "common/base/time.h"
#include "common/store/holds.h"
#include "common/store/queries.h"
#include "coordinator/scheduler/scheduler.h"

namespace dynbench::session {

// Those that were seen within a week of `now`: one that is away for longer is not waited for,
// unless an operator drained or quarantined it, which says that it is expected back.
std::vector<scheduler::WorkerKnown> KnownWorkers(const std::vector<store::WorkerInfo>& workers,
                                                 const std::vector<store::KnownSlot>& slots,
                                                 UnixTimeMs now, const store::HoldRows& holds);

}  // namespace dynbench::session

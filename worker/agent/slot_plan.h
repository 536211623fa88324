// Which slots a worker offers, from what it has claimed. Pure.
#pragma once

#include <vector>

#include "worker/agent/slot.h"
#include "worker/host/inventory.h"

namespace dynbench::worker {

// A slot for each GPU, with equal shares of `cores`; without GPUs one CPU slot with all of them.
// (Beside GPU slots there is no CPU slot: its load would be in their measurements.)
// `lanes`: 0 lets each slot choose: one on a CPU (compiling in parallel does not pay there, and
// every lane has all cores, since it measures on them), on a GPU as LanesOfGpu says, each lane with
// cores of its own.
std::vector<SlotShape> PlanSlots(const Inventory& inventory, const std::vector<int>& cores,
                                 const std::vector<Gpu>& gpus, int lanes);

}  // namespace dynbench::worker

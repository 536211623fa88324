// The worker's own structs as protocol messages. Pure.
#pragma once

#include <string>
#include <vector>

#include "dynbench/v1/session.pb.h"
#include "worker/agent/slot.h"
#include "worker/engine/engine.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

v1::Environment ToProto(const Environment& environment);

// Why a slot takes no work, as a word of the protocol (Slot.state) and in words.
struct SlotBlock {
  std::string state;  // empty: it takes work
  std::string reason;
};
v1::Slot ToProto(const SlotShape& shape, const SlotBlock& block);

// What the coordinator has learned, over the spec's experiment; limits that this version does not
// know are passed over.
void TakePhaseLimits(const std::vector<v1::PhaseLimit>& limits, AttemptSpec* spec);

}  // namespace dynbench::worker

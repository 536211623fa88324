// The worker's own structs as protocol messages. Pure.
#pragma once

#include <string>

#include "dynbench/v1/session.pb.h"
#include "worker/agent/slot.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

v1::Environment ToProto(const Environment& environment);

// `reason`: why the slot takes no work; empty: it does.
v1::Slot ToProto(const SlotShape& shape, const std::string& reason);

}  // namespace dynbench::worker

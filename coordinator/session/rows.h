// The store's rows as protocol messages. Pure.
#pragma once

#include "common/store/queries.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::session {

v1::Coverage ToProto(const store::Coverage& coverage);
// `eta_s` is left unknown (-1) and `waiting_reasons` empty: only the dispatcher knows them.
v1::Job ToProto(const store::JobRow& job);
v1::ResultRow ToProto(const store::ResultRow& row);

}  // namespace dynbench::session

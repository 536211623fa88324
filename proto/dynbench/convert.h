// Conversions between the protocol's messages and the plain structs of common/plan. The words are
// checked: an unknown outcome, phase or blame is InvalidArgument naming the field.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/plan/result.h"
#include "dynbench/v1/model.pb.h"

namespace dynbench::proto {

// Version 1: the first. A worker that is one behind works degraded.
inline constexpr int kProtocolVersion = 1;

v1::AttemptId ToProto(const AttemptId& attempt);
AttemptId FromProto(const v1::AttemptId& attempt);

v1::Result ToProto(const plan::Result& result);
absl::StatusOr<plan::Result> FromProto(const v1::Result& result);

}  // namespace dynbench::proto

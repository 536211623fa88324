// The compact blobs of the store (docs/schema.md): rows of int64, little-endian, without a header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/result.h"

namespace dynbench::store {

std::string EncodeInt64s(const std::vector<int64_t>& values);
// DataLoss: the size is no multiple of 8.
absl::StatusOr<std::vector<int64_t>> DecodeInt64s(std::string_view bytes);

// Three numbers a span: phase (its place in plan::Phase), duration_ns, frozen_ns.
std::string EncodePhases(const std::vector<plan::PhaseSpan>& phases);
// DataLoss: the size is no multiple of 24, or a phase that does not exist.
absl::StatusOr<std::vector<plan::PhaseSpan>> DecodePhases(std::string_view bytes);

}  // namespace dynbench::store

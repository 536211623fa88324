// Sets of logical CPUs ("cores" in the wide sense of the protocol) as text: "0-3,8". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::worker {

// Sorted, each once. InvalidArgument quotes what could not be read; an empty text is an error.
absl::StatusOr<std::vector<int>> ParseCoreSet(std::string_view text);

// The shortest text; empty for an empty set. `cores` is sorted.
std::string FormatCoreSet(const std::vector<int>& cores);

}  // namespace dynbench::worker

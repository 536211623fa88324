// Upstream's flags that `submit` does not take, each with the reason: nothing that a dashboard
// command carries is swallowed silently. Pure data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench::cli {

// The message for an upstream flag that is refused ("--nnc: belongs to a
// fuser that PyTorch no longer has; …"), or nullopt when `flag` (with its dashes, without a value)
// is none of them.
std::optional<std::string> WhyRefused(std::string_view flag);

// All flags that WhyRefused knows, sorted.
std::vector<std::string> RefusedFlags();

}  // namespace dynbench::cli

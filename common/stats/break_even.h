// After how many calls compiling has paid. Pure; only std, since the runner compiles it too.
#pragma once

#include <optional>

namespace dynbench::stats {

// compile_s / (eager_s - compiled_s), the last two being seconds of one call; 0 when compiling took
// no time. None when a compiled call is not faster, so that it never pays, or a figure is no
// number.
std::optional<double> BreakEvenCalls(double compile_s, double eager_s, double compiled_s);

}  // namespace dynbench::stats

// What follows from the samples of a performance test. Pure.
#pragma once

#include <optional>

#include "nlohmann/json.hpp"
#include "worker/runner/timing.h"

namespace dynbench::runner {

// speedup, eager_latency_ms, abs_latency_ms, eager_spread, compiled_spread, eager_page_faults,
// compiled_page_faults: names and meaning of plan::Metrics. Both sides have samples.
nlohmann::json SampleFigures(const Samples& samples);

// Of samples taken in `blocks` blocks, the entries of `in_force` that common/base/pair_blocks.h
// names. As many pairs as blocks, at least.
nlohmann::json BlockFigures(const Samples& samples, int blocks);

// Calls after which `compile_s` seconds of compiling have come back, from the seconds of one call
// of each side; nothing when compiled is not faster.
std::optional<double> BreakEvenCalls(double compile_s, double eager_call_s, double compiled_call_s);

}  // namespace dynbench::runner

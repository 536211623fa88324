#include "worker/runner/figures.h"

#include "common/stats/break_even.h"
#include "common/stats/stats.h"

namespace dynbench::runner {

nlohmann::json SampleFigures(const Samples& samples) {
  const auto eager = stats::ToDoubles(samples.eager_ns);
  const auto compiled = stats::ToDoubles(samples.compiled_ns);
  const double eager_ns = stats::Median(eager), compiled_ns = stats::Median(compiled);
  return {{"speedup", eager_ns / compiled_ns},
          {"eager_latency_ms", eager_ns / 1e6},
          {"abs_latency_ms", compiled_ns / 1e6},
          {"eager_spread", stats::Spread(eager)},
          {"compiled_spread", stats::Spread(compiled)}};
}

std::optional<double> BreakEvenCalls(double compile_s, double eager_call_s,
                                     double compiled_call_s) {
  return stats::BreakEvenCalls(compile_s, eager_call_s, compiled_call_s);
}

}  // namespace dynbench::runner

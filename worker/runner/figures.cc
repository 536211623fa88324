#include "worker/runner/figures.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/pair_blocks.h"
#include "common/stats/break_even.h"
#include "common/stats/stats.h"

namespace dynbench::runner {
namespace {

void SetMedian(const char* name, const std::vector<int64_t>& counts, nlohmann::json* figures) {
  if (!counts.empty()) (*figures)[name] = std::llround(stats::Median(stats::ToDoubles(counts)));
}

}  // namespace

nlohmann::json SampleFigures(const Samples& samples) {
  const auto eager = stats::ToDoubles(samples.eager_ns);
  const auto compiled = stats::ToDoubles(samples.compiled_ns);
  const double eager_ns = stats::Median(eager), compiled_ns = stats::Median(compiled);
  nlohmann::json figures = {{"speedup", eager_ns / compiled_ns},
                            {"eager_latency_ms", eager_ns / 1e6},
                            {"abs_latency_ms", compiled_ns / 1e6},
                            {"eager_spread", stats::Spread(eager)},
                            {"compiled_spread", stats::Spread(compiled)}};
  SetMedian("eager_page_faults", samples.eager_faults, &figures);
  SetMedian("compiled_page_faults", samples.compiled_faults, &figures);
  return figures;
}

nlohmann::json BlockFigures(const Samples& samples, int blocks) {
  const auto eager = stats::ToDoubles(samples.eager_ns);
  const auto compiled = stats::ToDoubles(samples.compiled_ns);
  const auto count = static_cast<size_t>(blocks);
  std::vector<double> eager_medians, compiled_medians;
  for (size_t block = 0; block < count; ++block) {
    const size_t first = FirstOfBlock(block, count, eager.size());
    const size_t pairs = FirstOfBlock(block + 1, count, eager.size()) - first;
    eager_medians.push_back(stats::Median(std::span(eager).subspan(first, pairs)));
    compiled_medians.push_back(stats::Median(std::span(compiled).subspan(first, pairs)));
  }
  return {{kWindowBlocks, std::to_string(blocks)},
          {kEagerBlocks, BlockMediansText(eager_medians)},
          {kCompiledBlocks, BlockMediansText(compiled_medians)}};
}

std::optional<double> BreakEvenCalls(double compile_s, double eager_call_s,
                                     double compiled_call_s) {
  return stats::BreakEvenCalls(compile_s, eager_call_s, compiled_call_s);
}

}  // namespace dynbench::runner

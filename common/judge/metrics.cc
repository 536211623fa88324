#include "common/judge/metrics.h"

#include <cmath>
#include <cstddef>

#include "common/base/window_flags.h"

namespace dynbench::judge {

const std::vector<MetricInfo>& AllMetrics() {
  static const std::vector<MetricInfo> metrics = {
      {Metric::kSpeedup, "speedup", "speedup", "x", false, 0.01, 0.05, 10},
      {Metric::kCompiledLatency, "compiled_latency", "compiled ms", "ms", true, 0.01, 0.05, 10},
      {Metric::kEagerLatency, "eager_latency", "eager ms", "ms", true, 0.01, 0.05, 10},
      {Metric::kCompileSeconds, "compile_seconds", "compile s", "s", true, 0.5, 0.10, 10},
      {Metric::kMemory, "memory", "peak MB", "MB", true, 1, 0.05, 1.25},
      {Metric::kStatus, "status", "status", "", false, 0, 0, 1},
  };
  return metrics;
}

const MetricInfo& InfoOf(Metric metric) { return AllMetrics()[static_cast<size_t>(metric)]; }

std::string_view ToString(Metric metric) { return InfoOf(metric).word; }

std::optional<Metric> ParseMetric(std::string_view word) {
  for (const MetricInfo& info : AllMetrics()) {
    if (info.word == word) return info.metric;
  }
  return std::nullopt;
}

std::optional<double> ValueOf(Metric metric, const plan::Result& result) {
  if (result.outcome != plan::Outcome::kPassed) return std::nullopt;
  const plan::Metrics& m = result.metrics;
  std::optional<double> value;
  switch (metric) {
    case Metric::kSpeedup:
      value = m.speedup;
      break;
    case Metric::kCompiledLatency:
      value = m.abs_latency_ms;
      break;
    case Metric::kEagerLatency:
      value = m.eager_latency_ms;
      break;
    case Metric::kCompileSeconds:
      value = m.compilation_latency_s;
      break;
    case Metric::kMemory:
      if (m.compiled_peak_memory_bytes) value = *m.compiled_peak_memory_bytes / 1e6;
      break;
    case Metric::kStatus:
      break;
  }
  if (value && !(std::isfinite(*value) && *value > 0)) return std::nullopt;
  return value;
}

bool Disturbed(Metric metric, const plan::Result& result) {
  return metric == Metric::kCompileSeconds &&
         (result.metrics.window_flags.value_or(0) & kForeignLoadCompiling) != 0;
}

}  // namespace dynbench::judge

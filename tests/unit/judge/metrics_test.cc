// Method: each metric's word read back, and the values that may be compared as ratios.
#include "common/judge/metrics.h"

#include <gtest/gtest.h>

#include <limits>

namespace dynbench::judge {
namespace {

TEST(Metrics, WordsAreReadBack) {
  for (const MetricInfo& info : AllMetrics()) {
    EXPECT_EQ(ParseMetric(info.word), info.metric);
    EXPECT_EQ(&InfoOf(info.metric), &info);
  }
  EXPECT_FALSE(ParseMetric("latency"));
}

TEST(Metrics, ValuesAreAboveZeroOrAbsent) {
  plan::Result result;
  result.outcome = plan::Outcome::kPassed;
  EXPECT_FALSE(ValueOf(Metric::kSpeedup, result));
  result.metrics.speedup = 1.5;
  result.metrics.compilation_latency_s = -13;  // warm-up of eager took longer: seen on busy hosts
  result.metrics.compiled_peak_memory_bytes = 8e8;
  result.metrics.abs_latency_ms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ValueOf(Metric::kSpeedup, result), 1.5);
  EXPECT_FALSE(ValueOf(Metric::kCompileSeconds, result));
  EXPECT_EQ(ValueOf(Metric::kMemory, result), 800);
  EXPECT_FALSE(ValueOf(Metric::kCompiledLatency, result));
  EXPECT_FALSE(ValueOf(Metric::kStatus, result));
  result.outcome = plan::Outcome::kFailed;
  EXPECT_FALSE(ValueOf(Metric::kSpeedup, result)) << "a failed run has no figures";
}

}  // namespace
}  // namespace dynbench::judge

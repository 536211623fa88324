// What is compared of a result: each metric with its unit, its direction and the limits below which
// a change is not told. docs/statistics.md says where the numbers come from. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/plan/result.h"

namespace dynbench::judge {

enum class Metric {
  kSpeedup,          // "speedup"
  kCompiledLatency,  // "compiled_latency"
  kEagerLatency,     // "eager_latency"
  kCompileSeconds,   // "compile_seconds"
  kMemory,           // "memory"
  kStatus,           // "status": passed or not, with upstream's word
};

struct MetricInfo {
  Metric metric = Metric::kSpeedup;
  std::string_view word;   // in JSON, CSV and flags
  std::string_view title;  // in tables
  std::string_view unit;
  bool lower_is_better = true;
  // A change below it is never told, however many percent it is (a timer's grain, a page more).
  double absolute_floor = 0;
  // "same" promises that a change as large as this would have been seen (ratio minus 1).
  double resolution = 0.05;
  // One process a side and no noise floor: only a change beyond this factor is told.
  double one_process_factor = 10;
};

// In the order of the enumeration.
const std::vector<MetricInfo>& AllMetrics();
const MetricInfo& InfoOf(Metric metric);
std::string_view ToString(Metric metric);
std::optional<Metric> ParseMetric(std::string_view word);

// The figure of a measured row; none where it was not taken, and none where it is not above 0 (a
// compile time is a difference of two wall times and may be negative), since ratios are compared.
// kStatus has none.
std::optional<double> ValueOf(Metric metric, const plan::Result& result);

// Whether that figure was disturbed by what the row cannot take out of it, and so says nothing: the
// compile seconds of a model beside which others ran. Timings are taken again when they are
// disturbed, and have canaries beside them.
bool Disturbed(Metric metric, const plan::Result& result);

}  // namespace dynbench::judge

// Every metric once: JSON, SQL columns, protocol and tables all walk this list, so a metric that is
// added here and to the struct (and to the schema and model.proto) is carried everywhere.
#pragma once

#include "common/plan/result.h"

namespace dynbench::plan {

// Calls visit("name", field) for each metric, in the order of result.h. `M` is Metrics or const
// Metrics; a field is an optional<double> or an optional<int64_t>.
template <typename M, typename Visit>
void ForEachMetric(M& m, Visit&& visit) {
  visit("speedup", m.speedup);
  visit("abs_latency_ms", m.abs_latency_ms);
  visit("eager_latency_ms", m.eager_latency_ms);
  visit("compilation_latency_s", m.compilation_latency_s);
  visit("compile_synchronized_s", m.compile_synchronized_s);
  visit("compression_ratio", m.compression_ratio);
  visit("eager_peak_memory_bytes", m.eager_peak_memory_bytes);
  visit("compiled_peak_memory_bytes", m.compiled_peak_memory_bytes);
  visit("eager_phase_peak_bytes", m.eager_phase_peak_bytes);
  visit("compiled_phase_peak_bytes", m.compiled_phase_peak_bytes);
  visit("eager_spread", m.eager_spread);
  visit("compiled_spread", m.compiled_spread);
  visit("calls_captured", m.calls_captured);
  visit("unique_graphs", m.unique_graphs);
  visit("fallbacks_to_eager", m.fallbacks_to_eager);
  visit("graph_breaks", m.graph_breaks);
  visit("unique_graph_breaks", m.unique_graph_breaks);
  visit("autograd_captures", m.autograd_captures);
  visit("autograd_compiles", m.autograd_compiles);
  visit("cudagraph_skips", m.cudagraph_skips);
  visit("accuracy_distance", m.accuracy_distance);
  visit("accuracy_tolerance", m.accuracy_tolerance);
  visit("accuracy_multiplier", m.accuracy_multiplier);
  visit("export_s", m.export_s);
  visit("package_s", m.package_s);
  visit("load_s", m.load_s);
  visit("first_run_s", m.first_run_s);
  visit("break_even_calls", m.break_even_calls);
  visit("cache_lookup_latency_s", m.cache_lookup_latency_s);
  visit("harness_overhead_us", m.harness_overhead_us);
  visit("eager_prefill_latency_ms", m.eager_prefill_latency_ms);
  visit("input_tokens_per_second", m.input_tokens_per_second);
  visit("tolerance_max", m.tolerance_max);
  visit("tolerance_mean", m.tolerance_mean);
  visit("tolerance_std", m.tolerance_std);
  visit("recompiles", m.recompiles);
  visit("guard_misses", m.guard_misses);
  visit("total_aot_graphs", m.total_aot_graphs);
  visit("ok_aot_graphs", m.ok_aot_graphs);
  visit("launch_canary_us", m.launch_canary_us);
  visit("host_canary_us", m.host_canary_us);
  visit("canary_spread", m.canary_spread);
  visit("canary_waits", m.canary_waits);
  visit("eager_device_busy_ms", m.eager_device_busy_ms);
  visit("compiled_device_busy_ms", m.compiled_device_busy_ms);
  visit("window_wait_s", m.window_wait_s);
  visit("autotune_windows", m.autotune_windows);
  visit("autotune_s", m.autotune_s);
  visit("window_foreign_load", m.window_foreign_load);
  visit("window_repeats", m.window_repeats);
  visit("device_clock_mhz", m.device_clock_mhz);
  visit("device_throttle_reasons", m.device_throttle_reasons);
  visit("timed_pairs", m.timed_pairs);
  visit("precision_reached", m.precision_reached);
  visit("precision_budget_spent", m.precision_budget_spent);
  visit("window_flags", m.window_flags);
  visit("window_host_load", m.window_host_load);
  visit("window_cpu_clock_mhz", m.window_cpu_clock_mhz);
  visit("window_cpu_throttles", m.window_cpu_throttles);
  visit("device_foreign_processes", m.device_foreign_processes);
  visit("eager_page_faults", m.eager_page_faults);
  visit("compiled_page_faults", m.compiled_page_faults);
}

}  // namespace dynbench::plan

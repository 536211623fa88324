// Step 11 of the schema: pages that the kernel had to give a process during its samples.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV11[] = R"sql(
ALTER TABLE result ADD COLUMN eager_page_faults INTEGER;
ALTER TABLE result ADD COLUMN compiled_page_faults INTEGER;

DROP VIEW v_windows;
DROP VIEW v_results;

CREATE VIEW v_windows AS
SELECT e.job, e.id AS experiment, e.suite, e.model, e.mode, e.test, e.configuration, e.precision,
       e.device, e.series, r.outcome, r.status, r.cores, r.threads,
       r.launch_canary_us, r.host_canary_us, r.canary_spread, r.canary_waits,
       r.eager_device_busy_ms, r.compiled_device_busy_ms, r.window_wait_s, r.autotune_windows, r.autotune_s,
       r.window_foreign_load, r.window_repeats, r.device_clock_mhz, r.device_throttle_reasons,
       r.timed_pairs, r.precision_reached, r.precision_budget_spent, r.window_flags, r.window_host_load,
       r.window_cpu_clock_mhz, r.window_cpu_throttles, r.device_foreign_processes,
       r.eager_page_faults, r.compiled_page_faults,
       r.eager_spread, r.compiled_spread, r.notes, l.worker, l.slot
FROM experiment e
JOIN result r ON r.experiment = e.id
LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)
WHERE e.test = 'performance';

CREATE VIEW v_results AS
SELECT e.job, e.id AS experiment, e.suite, e.model, e.mode, e.test, e.configuration, e.precision,
       e.device, e.environment, e.profile, e.start, e.series, e.partition, e.state, e.attempts,
       r.outcome, r.status, r.phase, r.blame, r.error, r.batch_size, r.weights, r.threads, r.cores,
       r.speedup, r.abs_latency_ms, r.eager_latency_ms, r.compilation_latency_s,
       r.compile_synchronized_s, r.compression_ratio, r.eager_peak_memory_bytes,
       r.compiled_peak_memory_bytes, r.eager_phase_peak_bytes, r.compiled_phase_peak_bytes,
       r.eager_spread, r.compiled_spread, r.calls_captured, r.unique_graphs, r.fallbacks_to_eager,
       r.graph_breaks, r.unique_graph_breaks, r.autograd_captures, r.autograd_compiles,
       r.cudagraph_skips, r.accuracy_distance, r.accuracy_tolerance, r.accuracy_multiplier,
       r.export_s, r.package_s, r.load_s, r.first_run_s,
       r.break_even_calls, r.cache_lookup_latency_s, r.harness_overhead_us,
       r.eager_prefill_latency_ms, r.input_tokens_per_second, r.tolerance_max,
       r.tolerance_mean, r.tolerance_std, r.recompiles, r.guard_misses,
       r.total_aot_graphs, r.ok_aot_graphs,
       r.launch_canary_us, r.host_canary_us, r.canary_spread, r.canary_waits,
       r.eager_device_busy_ms, r.compiled_device_busy_ms, r.window_wait_s, r.autotune_windows, r.autotune_s,
       r.window_foreign_load, r.window_repeats, r.device_clock_mhz, r.device_throttle_reasons,
       r.timed_pairs, r.precision_reached, r.precision_budget_spent, r.window_flags, r.window_host_load,
       r.window_cpu_clock_mhz, r.window_cpu_throttles, r.device_foreign_processes,
       r.eager_page_faults, r.compiled_page_faults,
       r.accuracy_rule, r.start_proven, r.notes, w.id AS worker, w.host AS worker_host, l.slot,
       l.epoch AS lease, l.fingerprint, a.environment AS environment_hash, v.torch_version,
       r.started_unix_ms, r.finished_unix_ms, r.received_unix_ms
FROM experiment e
LEFT JOIN result r ON r.experiment = e.id
LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)
LEFT JOIN worker w ON w.id = l.worker
LEFT JOIN attempt a ON a.experiment = e.id AND a.lease = l.epoch
LEFT JOIN environment v ON v.hash = a.environment;
)sql";

}  // namespace dynbench::store

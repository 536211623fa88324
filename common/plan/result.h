// What one attempt of an experiment brought: outcome, status word, blame, and every number.
//
// The runner writes it as JSON (ResultFromRunnerJson reads that), the protocol carries it as
// dynbench.v1.Result, the store keeps it as a row. Plain data; thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/words.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::plan {

// Unset means "not measured"; zero is a measurement.
struct Metrics {
  std::optional<double> speedup;           // median eager / median compiled
  std::optional<double> abs_latency_ms;    // median compiled, all iterations_per_run calls
  std::optional<double> eager_latency_ms;  // median eager
  std::optional<double>
      compilation_latency_s;  // upstream's: compiled minus eager warm-up wall time
  std::optional<double> compile_synchronized_s;      // ours: first compiled call, synchronised
  std::optional<double> compression_ratio;           // upstream's: eager peak / compiled peak
  std::optional<double> eager_peak_memory_bytes;     // upstream's meaning (CPU: RSS, not a peak)
  std::optional<double> compiled_peak_memory_bytes;  // likewise
  std::optional<double> eager_phase_peak_bytes;      // ours: phase's own peak less its baseline
  std::optional<double> compiled_phase_peak_bytes;
  // Dispersion of the samples: interquartile range / median, per side.
  std::optional<double> eager_spread;
  std::optional<double> compiled_spread;
  // Dynamo's counters over the compiled warm-up, upstream's columns.
  std::optional<int64_t> calls_captured;
  std::optional<int64_t> unique_graphs;
  std::optional<int64_t> fallbacks_to_eager;
  std::optional<int64_t> graph_breaks;
  std::optional<int64_t> unique_graph_breaks;
  std::optional<int64_t> autograd_captures;
  std::optional<int64_t> autograd_compiles;
  std::optional<int64_t> cudagraph_skips;
  // Accuracy: the largest distance found, the rule that decided and the limits in force.
  std::optional<double> accuracy_distance;
  std::optional<double> accuracy_tolerance;
  std::optional<double> accuracy_multiplier;
  // Ahead-of-time paths: export, compile and package, load, and the first run of the artefact.
  std::optional<double> export_s;
  std::optional<double> package_s;
  std::optional<double> load_s;
  std::optional<double> first_run_s;
  // Calls after which compiling has paid: compile_synchronized_s (ahead of time also export_s,
  // package_s and load_s) / (eager - compiled seconds a call). Unset when compiled is not faster.
  std::optional<double> break_even_calls;
  std::optional<double> cache_lookup_latency_s;  // dynamo's, upstream's column
  std::optional<double> harness_overhead_us;     // a sample of a call that does nothing
  // Prefill: eager side and throughput, upstream's columns.
  std::optional<double> eager_prefill_latency_ms;
  std::optional<double> input_tokens_per_second;
  // Test "tolerance": |a - b| / (1 + |a|), eager on the CPU against compiled.
  std::optional<double> tolerance_max;
  std::optional<double> tolerance_mean;
  std::optional<double> tolerance_std;
  std::optional<int64_t> recompiles;    // during warm-up, after the first compilation
  std::optional<int64_t> guard_misses;  // in the window (a row with one is not measured)
  std::optional<int64_t> total_aot_graphs;
  std::optional<int64_t> ok_aot_graphs;
  // The window (docs/quiet-hosts.md).
  // Of one tiny launch on the accelerator, before the window's first sample
  std::optional<double> launch_canary_us;
  std::optional<double> host_canary_us;  // of a fixed piece of work on a core, at the same moment
  // (slowest - fastest) / median of the readings that were taken as steady
  std::optional<double> canary_spread;
  std::optional<int64_t> canary_waits;  // readings that were not steady, before those that were
  // Kernel time of one call, from a profiler outside of the timing
  std::optional<double> eager_device_busy_ms;
  std::optional<double> compiled_device_busy_ms;  // likewise
  // Waited for windows, autotuning included; in no other duration
  std::optional<double> window_wait_s;
  std::optional<int64_t> autotune_windows;  // windows taken for the compiler's own benchmarks
  std::optional<double> autotune_s;         // spent in them
  // Time that others ran on the measuring cores / time of the cores
  std::optional<double> window_foreign_load;
  // Times that the samples were taken again because of a disturbance
  std::optional<int64_t> window_repeats;
  // Of the accelerator's multiprocessors when the window ended
  std::optional<double> device_clock_mhz;
  // Bits as its driver reports them; 0: none but idleness
  std::optional<int64_t> device_throttle_reasons;
  // Pairs that the medians are of
  std::optional<int64_t> timed_pairs;
  // Half of the 95 % interval of the median ratio / that ratio
  std::optional<double> precision_reached;
  // With --target-precision: 1 when its budget ended the sampling, 0 when it was met
  std::optional<int64_t> precision_budget_spent;
  // What was wrong with the window, or with compiling (common/base/window_flags.h); 0: nothing
  std::optional<int64_t> window_flags;
  // Share of the time of the host's other cores in which they were busy
  std::optional<double> window_host_load;
  // Of the measuring cores when the samples were taken, their mean
  std::optional<double> window_cpu_clock_mhz;
  // Times that the measuring cores or their package were throttled by heat meanwhile
  std::optional<int64_t> window_cpu_throttles;
  // Processes of others that had work on the accelerator when the window ended
  std::optional<int64_t> device_foreign_processes;
  // Pages that the kernel had to give this process during a sample, the median over samples
  std::optional<int64_t> eager_page_faults;
  std::optional<int64_t> compiled_page_faults;

  bool operator==(const Metrics&) const = default;
};

struct PhaseSpan {
  Phase phase = Phase::kPrepare;
  int64_t duration_ns = 0;  // frozen spans already taken out
  int64_t frozen_ns = 0;

  bool operator==(const PhaseSpan&) const = default;
};

// Proof of how the caches started (design section 8).
struct StartProof {
  int64_t cache_files_before = -1;  // in the attempt's cache folder; cold requires 0
  int64_t cache_hits = -1;          // FX graph cache of this process
  int64_t cache_misses = -1;
  bool proven = false;  // cold: created empty; warm: hits > 0 and no miss

  bool operator==(const StartProof&) const = default;
};

struct Result {
  Outcome outcome = Outcome::kFailed;
  std::string status;            // upstream's word; "measured" for a passed performance test
  Phase phase = Phase::kReport;  // where it ended
  Blame blame = Blame::kNone;
  std::string error;   // the one useful line: last line of the exception, or what the signal was
  std::string detail;  // traceback or explanation, capped at 64 KiB
  int exit_code = 0;   // of the child; -1 when killed by `exit_signal`
  int exit_signal = 0;

  int batch_size = 0;   // effective
  std::string weights;  // "random" or "pretrained": what was loaded
  int threads = 0;      // torch threads in force while measuring
  std::string cores;    // core set, "0-1"
  std::string
      accuracy_rule;  // which rule of same() decided: "equal", "tolerance", "rmse", "cosine", …
  std::string accuracy_function_hash;  // of the environment's same()
  Metrics metrics;
  std::vector<PhaseSpan> phases;
  std::vector<int64_t> eager_ns;     // one per pair, in order
  std::vector<int64_t> compiled_ns;  // likewise
  StartProof start_proof;
  // What was in force in the child, read back after it was set: "inductor.freezing" -> "True",
  // "env.OMP_NUM_THREADS" -> "2", "torch.num_threads" -> "2".
  std::map<std::string, std::string> in_force;
  std::vector<std::string> notes;  // flags for people: "guard miss", "throttled", …
  // What the compiler told of itself, a JSON object as text (docs/schema.md lists the keys):
  // compile_phases_s, graph_breaks [{reason, user_stack}], recompile_reasons, autotune, explain.
  std::string compiler_report;
  std::vector<std::string> artifacts;  // files kept on the worker's host, absolute paths

  bool operator==(const Result&) const = default;
};

// Reads the runner's `result` message (worker/runner/PROTOCOL.md). Fields that it lacks keep their
// defaults; a field of the wrong type is InvalidArgument naming it.
absl::StatusOr<Result> ResultFromRunnerJson(const nlohmann::json& message);

// The `metrics` object of `results --json`: only what was measured, names as in Metrics.
nlohmann::json MetricsToJson(const Metrics& metrics);

}  // namespace dynbench::plan

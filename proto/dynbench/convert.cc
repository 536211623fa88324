#include "proto/dynbench/convert.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynbench::proto {
namespace {

// Every metric of model.proto, by name: visit(set, get, has) is spelt out once for both directions.
#define DYNBENCH_METRICS(X)     \
  X(speedup)                    \
  X(abs_latency_ms)             \
  X(eager_latency_ms)           \
  X(compilation_latency_s)      \
  X(compile_synchronized_s)     \
  X(compression_ratio)          \
  X(eager_peak_memory_bytes)    \
  X(compiled_peak_memory_bytes) \
  X(eager_phase_peak_bytes)     \
  X(compiled_phase_peak_bytes)  \
  X(eager_spread)               \
  X(compiled_spread)            \
  X(calls_captured)             \
  X(unique_graphs)              \
  X(fallbacks_to_eager)         \
  X(graph_breaks)               \
  X(unique_graph_breaks)        \
  X(autograd_captures)          \
  X(autograd_compiles)          \
  X(cudagraph_skips)            \
  X(accuracy_distance)          \
  X(accuracy_tolerance)         \
  X(accuracy_multiplier)        \
  X(export_s)                   \
  X(package_s)                  \
  X(load_s)                     \
  X(first_run_s)                \
  X(break_even_calls)           \
  X(cache_lookup_latency_s)     \
  X(harness_overhead_us)        \
  X(eager_prefill_latency_ms)   \
  X(input_tokens_per_second)    \
  X(tolerance_max)              \
  X(tolerance_mean)             \
  X(tolerance_std)              \
  X(recompiles)                 \
  X(guard_misses)               \
  X(total_aot_graphs)           \
  X(ok_aot_graphs)              \
  X(launch_canary_us)           \
  X(host_canary_us)             \
  X(canary_spread)              \
  X(canary_waits)               \
  X(eager_device_busy_ms)       \
  X(compiled_device_busy_ms)    \
  X(window_wait_s)              \
  X(autotune_windows)           \
  X(autotune_s)                 \
  X(window_foreign_load)        \
  X(window_repeats)             \
  X(device_clock_mhz)           \
  X(device_throttle_reasons)    \
  X(timed_pairs)                \
  X(precision_reached)          \
  X(precision_budget_spent)     \
  X(window_flags)               \
  X(window_host_load)           \
  X(window_cpu_clock_mhz)       \
  X(window_cpu_throttles)       \
  X(device_foreign_processes)   \
  X(eager_page_faults)          \
  X(compiled_page_faults)

absl::Status UnknownWord(const char* field, const std::string& word) {
  return absl::InvalidArgumentError(absl::StrCat(
      "Result.", field, " is \"", word,
      "\", which this version does not know; run the same version of dynbench on both sides"));
}

}  // namespace

v1::AttemptId ToProto(const AttemptId& attempt) {
  v1::AttemptId out;
  out.set_experiment(attempt.experiment.value);
  out.set_lease(attempt.lease.value);
  return out;
}

AttemptId FromProto(const v1::AttemptId& attempt) {
  return {ExperimentId(attempt.experiment()), LeaseEpoch(attempt.lease())};
}

v1::Result ToProto(const plan::Result& result) {
  v1::Result out;
  out.set_outcome(std::string(plan::ToString(result.outcome)));
  out.set_status(result.status);
  out.set_phase(std::string(plan::ToString(result.phase)));
  out.set_blame(std::string(plan::ToString(result.blame)));
  out.set_error(result.error);
  out.set_detail(result.detail);
  out.set_exit_code(result.exit_code);
  out.set_exit_signal(result.exit_signal);
  out.set_batch_size(result.batch_size);
  out.set_weights(result.weights);
  out.set_threads(result.threads);
  out.set_cores(result.cores);
  out.set_accuracy_rule(result.accuracy_rule);
  out.set_accuracy_function_hash(result.accuracy_function_hash);
  v1::Metrics& metrics = *out.mutable_metrics();
#define X(name) \
  if (result.metrics.name) metrics.set_##name(*result.metrics.name);
  DYNBENCH_METRICS(X)
#undef X
  for (const plan::PhaseSpan& span : result.phases) {
    v1::PhaseSpan& to = *out.add_phases();
    to.set_phase(std::string(plan::ToString(span.phase)));
    to.set_duration_ns(span.duration_ns);
    to.set_frozen_ns(span.frozen_ns);
  }
  out.mutable_eager_ns()->Add(result.eager_ns.begin(), result.eager_ns.end());
  out.mutable_compiled_ns()->Add(result.compiled_ns.begin(), result.compiled_ns.end());
  v1::StartProof& proof = *out.mutable_start_proof();
  proof.set_cache_files_before(result.start_proof.cache_files_before);
  proof.set_cache_hits(result.start_proof.cache_hits);
  proof.set_cache_misses(result.start_proof.cache_misses);
  proof.set_proven(result.start_proof.proven);
  for (const auto& [key, value] : result.in_force) (*out.mutable_in_force())[key] = value;
  for (const std::string& note : result.notes) out.add_notes(note);
  out.set_compiler_report(result.compiler_report);
  out.mutable_artifacts()->Add(result.artifacts.begin(), result.artifacts.end());
  return out;
}

absl::StatusOr<plan::Result> FromProto(const v1::Result& result) {
  plan::Result out;
  const auto outcome = plan::ParseOutcome(result.outcome());
  if (!outcome) return UnknownWord("outcome", result.outcome());
  const auto phase = plan::ParsePhase(result.phase());
  if (!phase) return UnknownWord("phase", result.phase());
  const auto blame = plan::ParseBlame(result.blame());
  if (!blame) return UnknownWord("blame", result.blame());
  out.outcome = *outcome;
  out.phase = *phase;
  out.blame = *blame;
  out.status = result.status();
  out.error = result.error();
  out.detail = result.detail();
  out.exit_code = result.exit_code();
  out.exit_signal = result.exit_signal();
  out.batch_size = result.batch_size();
  out.weights = result.weights();
  out.threads = result.threads();
  out.cores = result.cores();
  out.accuracy_rule = result.accuracy_rule();
  out.accuracy_function_hash = result.accuracy_function_hash();
  const v1::Metrics& metrics = result.metrics();
#define X(name) \
  if (metrics.has_##name()) out.metrics.name = metrics.name();
  DYNBENCH_METRICS(X)
#undef X
  for (const v1::PhaseSpan& span : result.phases()) {
    const auto span_phase = plan::ParsePhase(span.phase());
    if (!span_phase) return UnknownWord("phases.phase", span.phase());
    out.phases.push_back({*span_phase, span.duration_ns(), span.frozen_ns()});
  }
  out.eager_ns.assign(result.eager_ns().begin(), result.eager_ns().end());
  out.compiled_ns.assign(result.compiled_ns().begin(), result.compiled_ns().end());
  out.start_proof = {result.start_proof().cache_files_before(), result.start_proof().cache_hits(),
                     result.start_proof().cache_misses(), result.start_proof().proven()};
  for (const auto& [key, value] : result.in_force()) out.in_force[key] = value;
  out.notes.assign(result.notes().begin(), result.notes().end());
  out.compiler_report = result.compiler_report();
  out.artifacts.assign(result.artifacts().begin(), result.artifacts().end());
  return out;
}

}  // namespace dynbench::proto

// The fields of an experiment's structs, each named once. Private to common/plan.
#pragma once

#include "common/plan/experiment.h"
#include "common/plan/json_fields.h"

namespace dynbench::plan {

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, CompileOptions>
void VisitFields(S& o, Visit&& visit) {
  visit("backend", o.backend);
  visit("compile_mode", o.compile_mode);
  visit("fullgraph", o.fullgraph);
  visit("cudagraphs", o.cudagraphs);
  visit("freezing", o.freezing);
  visit("cpp_wrapper", o.cpp_wrapper);
  visit("max_autotune", o.max_autotune);
  visit("dynamic_shapes", o.dynamic_shapes);
  visit("dynamic_batch_only", o.dynamic_batch_only);
  visit("unbacked_batch_only", o.unbacked_batch_only);
  visit("ahead_of_time", o.ahead_of_time);
  visit("quantization", o.quantization);
  visit("inductor_config", o.inductor_config);
  visit("dynamo_config", o.dynamo_config);
  visit("functorch_config", o.functorch_config);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, ModelSource>
void VisitFields(S& s, Visit&& visit) {
  visit("loader", s.loader);
  visit("name", s.name);
  visit("file_sha256", s.file_sha256);
  visit("file_name", s.file_name);
  visit("parameters", s.parameters);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, AccuracyRules>
void VisitFields(S& r, Visit&& visit) {
  visit("tolerance", r.tolerance);
  visit("cosine", r.cosine);
  visit("larger_multiplier_for_small_tensors", r.larger_multiplier_for_small_tensors);
  visit("eager_not_deterministic", r.eager_not_deterministic);
  visit("non_deterministic", r.non_deterministic);
  visit("compiled_runs", r.compiled_runs);
  visit("iou_threshold", r.iou_threshold);
  visit("deterministic_algorithms", r.deterministic_algorithms);
  visit("skip_check", r.skip_check);
  visit("large_model", r.large_model);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Experiment>
void VisitFields(S& e, Visit&& visit) {
  visit("suite", e.suite);
  visit("model", e.model);
  visit("mode", e.mode);
  visit("test", e.test);
  visit("configuration", e.configuration);
  visit("options", e.options);
  visit("precision", e.precision);
  visit("effective_precision", e.effective_precision);
  visit("amp_dtype", e.amp_dtype);
  visit("device", e.device);
  visit("environment", e.environment);
  visit("profile", e.profile);
  visit("start", e.start);
  visit("weights", e.weights);
  visit("source", e.source);
  visit("batch_size", e.batch_size);
  visit("accuracy", e.accuracy);
  visit("loss_divisor", e.loss_divisor);
  visit("optimizer", e.optimizer);
  visit("model_mode", e.model_mode);
  visit("activation_checkpointing", e.activation_checkpointing);
  visit("mark_batch", e.mark_batch);
  visit("layers", e.layers);
  visit("part", e.part);
  visit("generation", e.generation);
  visit("prompt_length", e.prompt_length);
  visit("distributed", e.distributed);
  visit("world_size", e.world_size);
  visit("optimize_ddp", e.optimize_ddp);
  visit("requirements", e.requirements);
  visit("engine", e.engine);
  visit("command", e.command);
  visit("repeat", e.repeat);
  visit("iterations", e.iterations);
  visit("iterations_per_run", e.iterations_per_run);
  visit("threads", e.threads);
  visit("timeout_ms", e.timeout_ms);
  visit("channels_last", e.channels_last);
  visit("randomize_input", e.randomize_input);
  visit("deterministic", e.deterministic);
  visit("batch_invariant", e.batch_invariant);
  visit("save_outputs_to", e.save_outputs_to);
  visit("compare_outputs_with", e.compare_outputs_with);
  visit("minify", e.minify);
  visit("collect_outputs", e.collect_outputs);
  visit("warm_peak_memory", e.warm_peak_memory);
  visit("measure_cache_lookup", e.measure_cache_lookup);
  visit("explain", e.explain);
  visit("diagnostics", e.diagnostics);
  visit("target_precision", e.target_precision);
  visit("precision_budget_ms", e.precision_budget_ms);
  visit("instances", e.instances);
  visit("set_env", e.set_env);
  visit("partition", e.partition);
  visit("output", e.output);
  visit("pair", e.pair);
  visit("round", e.round);
  visit("side", e.side);
  visit("zygote", e.zygote);
  visit("planned_outcome", e.planned_outcome);
  visit("reason", e.reason);
}

namespace internal {

// A struct with VisitFields is a JSON object. A key that came with a later version has its default.
template <typename S>
requires std::is_same_v<S, CompileOptions> || std::is_same_v<S, ModelSource> ||
    std::is_same_v<S, AccuracyRules>
struct Codec<S> {
  static Json Write(const S& value) { return WriteFields(value); }
  static bool Read(const Json& json, S* value) {
    return ReadFields(json, Missing::kKeepsDefault, "", value).ok();
  }
};

}  // namespace internal
}  // namespace dynbench::plan

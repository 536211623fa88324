#include "common/plan/request.h"

#include <type_traits>

#include "common/base/status.h"
#include "common/plan/experiment_fields.h"
#include "common/plan/json_fields.h"

namespace dynbench::plan {

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Condition>
void VisitFields(S& c, Visit&& visit) {
  visit("device", c.device);
  visit("arch", c.arch);
  visit("mode", c.mode);
  visit("test", c.test);
  visit("only_freezing", c.only_freezing);
  visit("precision", c.precision);
  visit("backend", c.backend);
  visit("ahead_of_time", c.ahead_of_time);
  visit("cudagraphs", c.cudagraphs);
  visit("distributed", c.distributed);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, ValueRule>
void VisitFields(S& r, Visit&& visit) {
  visit("when", r.when);
  visit("reason", r.reason);
  visit("tolerance", r.tolerance);
  visit("batch_size", r.batch_size);
  visit("optimizer", r.optimizer);
  visit("precision", r.precision);
  visit("amp_dtype", r.amp_dtype);
  visit("model_mode", r.model_mode);
  visit("cosine", r.cosine);
  visit("cudagraphs", r.cudagraphs);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, SkipRule>
void VisitFields(S& r, Visit&& visit) {
  visit("when", r.when);
  visit("reason", r.reason);
  visit("slow", r.slow);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, ModelRules>
void VisitFields(S& m, Visit&& visit) {
  visit("name", m.name);
  visit("line", m.line);
  visit("batch_size", m.batch_size);
  visit("batch_size_training", m.batch_size_training);
  visit("batch_size_accuracy", m.batch_size_accuracy);
  visit("tolerance_inference", m.tolerance_inference);
  visit("tolerance_training", m.tolerance_training);
  visit("tolerance_freezing", m.tolerance_freezing);
  visit("cosine", m.cosine);
  visit("larger_multiplier_for_small_tensors", m.larger_multiplier_for_small_tensors);
  visit("eager_not_deterministic_training", m.eager_not_deterministic_training);
  visit("eager_not_deterministic_inference", m.eager_not_deterministic_inference);
  visit("non_deterministic", m.non_deterministic);
  visit("loss_divisor", m.loss_divisor);
  visit("optimizer", m.optimizer);
  visit("inductor_config", m.inductor_config);
  visit("skip", m.skip);
  visit("rules", m.rules);
  visit("large_model", m.large_model);
  visit("batch_size_fixed", m.batch_size_fixed);
  visit("batch_size_accuracy_max", m.batch_size_accuracy_max);
  visit("batch_size_batch_invariant", m.batch_size_batch_invariant);
  visit("deterministic_algorithms", m.deterministic_algorithms);
  visit("mark_batch", m.mark_batch);
  visit("iou_threshold", m.iou_threshold);
  visit("accuracy_runs", m.accuracy_runs);
  visit("newer", m.newer);
  visit("typical_compile_s", m.typical_compile_s);
  visit("requires_versions", m.requires_versions);
  visit("parameters", m.parameters);
  visit("file", m.file);
  visit("class_name", m.class_name);
  visit("flaky", m.flaky);
  visit("information", m.information);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Suite>
void VisitFields(S& s, Visit&& visit) {
  visit("name", s.name);
  visit("loader", s.loader);
  visit("description", s.description);
  visit("source", s.source);
  visit("sha256", s.sha256);
  visit("models", s.models);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Request>
void VisitFields(S& r, Visit&& visit) {
  visit("suite", r.suite);
  visit("inline_suite", r.inline_suite);
  visit("modes", r.modes);
  visit("tests", r.tests);
  visit("models", r.models);
  visit("only", r.only);
  visit("path_models", r.path_models);
  visit("filters", r.filters);
  visit("excludes", r.excludes);
  visit("exclude_exact", r.exclude_exact);
  visit("no_skip", r.no_skip);
  visit("fast", r.fast);
  visit("configurations", r.configurations);
  visit("options", r.options);
  visit("precision", r.precision);
  visit("device", r.device);
  visit("environments", r.environments);
  visit("profile", r.profile);
  visit("starts", r.starts);
  visit("weights", r.weights);
  visit("batch_size", r.batch_size);
  visit("batch_sizes", r.batch_sizes);
  visit("total_partitions", r.total_partitions);
  visit("partition_id", r.partition_id);
  visit("policy", r.policy);
  visit("repeat", r.repeat);
  visit("iterations", r.iterations);
  visit("iterations_per_run", r.iterations_per_run);
  visit("target_precision", r.target_precision);
  visit("precision_budget_ms", r.precision_budget_ms);
  visit("threads", r.threads);
  visit("timeout_ms", r.timeout_ms);
  visit("channels_last", r.channels_last);
  visit("randomize_input", r.randomize_input);
  visit("tolerance", r.tolerance);
  visit("cosine", r.cosine);
  visit("amp_dtype", r.amp_dtype);
  visit("optimizer", r.optimizer);
  visit("use_eval_mode", r.use_eval_mode);
  visit("activation_checkpointing", r.activation_checkpointing);
  visit("layers", r.layers);
  visit("part", r.part);
  visit("generation", r.generation);
  visit("prompt_length", r.prompt_length);
  visit("distributed", r.distributed);
  visit("world_size", r.world_size);
  visit("optimize_ddp", r.optimize_ddp);
  visit("engine", r.engine);
  visit("scripts", r.scripts);
  visit("command", r.command);
  visit("deterministic", r.deterministic);
  visit("batch_invariant", r.batch_invariant);
  visit("skip_accuracy_check", r.skip_accuracy_check);
  visit("save_outputs_to", r.save_outputs_to);
  visit("compare_outputs_with", r.compare_outputs_with);
  visit("minify", r.minify);
  visit("collect_outputs", r.collect_outputs);
  visit("warm_peak_memory", r.warm_peak_memory);
  visit("measure_cache_lookup", r.measure_cache_lookup);
  visit("explain", r.explain);
  visit("diagnostics", r.diagnostics);
  visit("instances", r.instances);
  visit("set_env", r.set_env);
  visit("output", r.output);
  visit("model_files", r.model_files);
  visit("given", r.given);
  visit("base", r.base);
  visit("new", r.fresh);
  visit("rounds_min", r.rounds_min);
  visit("rounds_max", r.rounds_max);
  visit("budget_s", r.budget_s);
  visit("pair_seed", r.pair_seed);
  visit("label", r.label);
  visit("user", r.user);
  visit("priority", r.priority);
  visit("require", r.require);
  visit("deadline_unix_ms", r.deadline_unix_ms);
  visit("unplaceable_grace_s", r.unplaceable_grace_s);
}

namespace internal {

template <typename S>
requires std::is_same_v<S, Condition> || std::is_same_v<S, SkipRule> ||
    std::is_same_v<S, ValueRule> || std::is_same_v<S, ModelRules> || std::is_same_v<S, Suite>
struct Codec<S> {
  static Json Write(const S& value) { return WriteFields(value); }
  static bool Read(const Json& json, S* value) {
    return ReadFields(json, Missing::kKeepsDefault, "", value).ok();
  }
};

}  // namespace internal

CompileOptions UpstreamOptions(const std::string& backend, bool disable_cudagraphs) {
  CompileOptions options;
  options.backend = backend;
  options.cudagraphs = backend == "inductor" && !disable_cudagraphs;
  return options;
}

std::string ToJson(const Request& request) { return internal::WriteFields(request).dump(); }

absl::StatusOr<Request> RequestFromJson(std::string_view text) {
  internal::Json json;
  RETURN_IF_ERROR(internal::ParseJson(text, "request", &json));
  Request request;
  // A key that an older client does not know keeps its default; one that is unknown here is
  // refused, since ignoring it would plan something else than what was asked for.
  RETURN_IF_ERROR(
      internal::ReadFields(json, internal::Missing::kKeepsDefault, "request", &request));
  return request;
}

}  // namespace dynbench::plan

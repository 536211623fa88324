#include "common/plan/apply_rules.h"

#include <algorithm>
#include <vector>

#include "common/base/status.h"
#include "common/plan/script_command.h"

namespace dynbench::plan {
namespace {

// Where upstream's --find-batch-sizes begins to halve.
constexpr int kLargestBatchTried = 1024;

std::string Parameter(const ModelRules& rules, const std::string& name) {
  const auto it = rules.parameters.find(name);
  return it == rules.parameters.end() ? "" : it->second;
}

bool Marks(const CompileOptions& options) {
  return options.dynamic_batch_only || options.unbacked_batch_only;
}

// The suite's size, before rules and flags.
int ListedBatchSize(const ModelRules& rules, const Experiment& e) {
  const int performance = e.mode == Mode::kTraining ? rules.batch_size_training : rules.batch_size;
  if (rules.batch_size_fixed || e.test != Test::kAccuracy) return performance;
  if (e.batch_invariant && rules.batch_size_batch_invariant > 0) {
    return rules.batch_size_batch_invariant;
  }
  return rules.batch_size_accuracy > 0 ? rules.batch_size_accuracy : performance;
}

// What the user asks for; 0: nothing.
int BatchSizeAskedFor(const Request& request, const std::string& model) {
  if (request.batch_size > 0) return request.batch_size;
  const auto listed = request.batch_sizes.find(model);
  return listed == request.batch_sizes.end() ? 0 : listed->second;
}

void ApplyBatchSize(const Request& request, const ModelRules& rules, Experiment* e) {
  // The prompts of prefill are as many as asked for; one is generated from at a time.
  const bool fixed = rules.batch_size_fixed && e->generation != "prefill";
  const int asked_for = fixed ? 0 : BatchSizeAskedFor(request, rules.name);
  if (asked_for > 0) {
    e->batch_size = asked_for;
  } else if (e->test == Test::kBatchSize && !fixed) {
    e->batch_size = kLargestBatchTried;
  }
  if (e->test == Test::kAccuracy && rules.batch_size_accuracy_max > 0) {
    e->batch_size = std::min(e->batch_size, rules.batch_size_accuracy_max);
  }
}

AccuracyRules AccuracyOf(const Request& request, const ModelRules& rules, const Experiment& e) {
  const bool training = e.mode == Mode::kTraining;
  AccuracyRules accuracy;
  accuracy.tolerance = training             ? rules.tolerance_training
                       : e.options.freezing ? rules.tolerance_freezing
                                            : rules.tolerance_inference;
  accuracy.cosine = rules.cosine;
  accuracy.larger_multiplier_for_small_tensors = rules.larger_multiplier_for_small_tensors;
  accuracy.eager_not_deterministic =
      training ? rules.eager_not_deterministic_training : rules.eager_not_deterministic_inference;
  accuracy.non_deterministic = rules.non_deterministic;
  accuracy.compiled_runs = rules.accuracy_runs;
  accuracy.iou_threshold = rules.iou_threshold;
  accuracy.deterministic_algorithms = rules.deterministic_algorithms;
  accuracy.skip_check = request.skip_accuracy_check;
  accuracy.large_model = rules.large_model;
  if (!e.options.quantization.empty()) {
    accuracy.large_model = "quantized weights are not compared with unquantized ones, as upstream";
  }
  return accuracy;
}

void ApplyValues(const ValueRule& rule, Experiment* e) {
  if (rule.tolerance) e->accuracy.tolerance = *rule.tolerance;
  if (rule.cosine) e->accuracy.cosine = *rule.cosine;
  if (rule.batch_size) e->batch_size = *rule.batch_size;
  if (rule.optimizer) e->optimizer = *rule.optimizer;
  if (rule.precision) e->effective_precision = *rule.precision;
  if (rule.amp_dtype) e->amp_dtype = *rule.amp_dtype;
  if (rule.model_mode) e->model_mode = *rule.model_mode;
  if (rule.cudagraphs) e->options.cudagraphs = e->options.cudagraphs && *rule.cudagraphs;
}

// As upstream: on CPUs a training step is forward and backward only.
bool HasOptimizerByDefault(const std::string& device) { return device != "cpu" && device != "mps"; }

// After the rules: what was typed wins, and what does not count has its default, so that it does
// not cut the series.
void ApplyFlags(const Request& request, Experiment* e) {
  const bool typed = !request.optimizer.empty();
  if (e->mode != Mode::kTraining || (!typed && !HasOptimizerByDefault(e->device))) {
    e->optimizer = "none";
  } else if (typed) {
    e->optimizer = request.optimizer;
  }
  if (!request.amp_dtype.empty()) e->amp_dtype = request.amp_dtype;
  if (e->effective_precision != Precision::kAmp) e->amp_dtype.clear();
  if (e->batch_invariant) e->model_mode = "eval";  // one forward pass, whatever the suite says
  if (e->test != Test::kAccuracy) {
    e->accuracy = {};
    return;
  }
  if (request.tolerance) e->accuracy.tolerance = *request.tolerance;
  if (request.cosine) e->accuracy.cosine = true;
}

void ApplyGeneration(const Request& request, const Configuration& configuration,
                     const ModelRules& rules, Experiment* e) {
  if (!Generates(rules)) return;
  e->prompt_length = request.prompt_length;
  if (e->mode != Mode::kInference || e->test != Test::kPerformance) return;
  const std::string asked_for = GenerationAskedFor(request, configuration);
  e->generation = asked_for == "forward" ? "" : asked_for.empty() ? "generate" : asked_for;
}

// What no rule and no flag can change.
std::string NotMeasurable(const Request& request, const Configuration& configuration,
                          const SelectedModel& model, const Experiment& e) {
  if (request.engine != kNativeEngine) return "";  // the program decides
  const bool training = e.mode == Mode::kTraining;
  if (training && e.options.freezing) return "freezing is for inference only";
  if (training && !e.options.ahead_of_time.empty()) {
    return absl::StrCat("ahead of time (", e.options.ahead_of_time, ") is for inference only");
  }
  if (training && !e.options.quantization.empty()) return "quantization is for inference only";
  if (e.batch_invariant && training) return "batch invariance is checked in inference only";
  const auto is_for = [&](const std::string& word) {
    return absl::StrCat("the configuration ", configuration.name, " is not measured in ", word);
  };
  const auto lacks = [](const auto& list, auto value) {
    return !list.empty() && std::find(list.begin(), list.end(), value) == list.end();
  };
  if (lacks(configuration.modes, e.mode)) return is_for(std::string(ToString(e.mode)));
  if (lacks(configuration.tests, e.test)) {
    return absl::StrCat("the configuration ", configuration.name, " has no ",
                        std::string(ToString(e.test)), " test");
  }
  const std::string asked_for = GenerationAskedFor(request, configuration);
  if (asked_for == "prefill" && Parameter(model.rules, "prefill") != "true") {
    return "the model has no prefill measurement";
  }
  if (asked_for == "prefill" && training) return "prefill is for inference only";
  if (asked_for == "generate" && !Generates(model.rules)) return "the model does not generate";
  return "";
}

}  // namespace

bool Generates(const ModelRules& rules) { return Parameter(rules, "kind") == "generate"; }

std::string GenerationAskedFor(const Request& request, const Configuration& configuration) {
  return request.generation.empty() ? configuration.generation : request.generation;
}

bool Applies(const Condition& when, const Experiment& e, std::string_view arch) {
  const bool precise =
      when.precision.empty() || std::find(when.precision.begin(), when.precision.end(),
                                          ToString(e.precision)) != when.precision.end();
  const std::string& path = e.options.ahead_of_time;
  return precise && (when.device.empty() || when.device == e.device) &&
         (when.arch.empty() || when.arch == arch) &&
         (when.mode.empty() || when.mode == ToString(e.mode)) &&
         (when.test.empty() || when.test == ToString(e.test)) &&
         (!when.only_freezing || e.options.freezing) &&
         (when.backend.empty() || when.backend == e.options.backend) &&
         (when.ahead_of_time.empty() || when.ahead_of_time == path ||
          (when.ahead_of_time == "any" && !path.empty())) &&
         (!when.cudagraphs || *when.cudagraphs == e.options.cudagraphs) &&
         (!when.distributed || *when.distributed == !e.distributed.empty());
}

void ApplyModel(const Request& request, const Configuration& configuration,
                const SelectedModel& model, std::string_view arch, Experiment* e) {
  const ModelRules& rules = model.rules;
  const bool training = e->mode == Mode::kTraining;
  e->suite = model.suite;
  e->model = rules.name;
  e->source = model.source;
  e->partition = model.partition;
  e->requirements = rules.requires_versions;
  if (training) e->loss_divisor = rules.loss_divisor;
  if (Marks(e->options)) e->mark_batch = rules.mark_batch;
  ApplyGeneration(request, configuration, rules, e);
  e->batch_size = ListedBatchSize(rules, *e);
  e->effective_precision = e->precision;
  e->optimizer = rules.optimizer;
  e->model_mode = training && !request.use_eval_mode ? "train" : "eval";
  e->accuracy = AccuracyOf(request, rules, *e);
  // Rules see the experiment as it was asked for, not what an earlier rule made of it.
  const Experiment asked_for = *e;
  for (const ValueRule& rule : rules.rules) {
    if (Applies(rule.when, asked_for, arch)) ApplyValues(rule, e);
  }
  ApplyBatchSize(request, rules, e);
  ApplyFlags(request, e);
  const std::string& path = e->options.ahead_of_time;
  if (e->options.backend == "inductor" &&
      (path.empty() || path == "aot_inductor" || path == "aot_precompile")) {
    // What was typed for the job wins over the suite's rule.
    for (const auto& [key, value] : rules.inductor_config) {
      e->options.inductor_config.emplace(key, value);
    }
  }
}

std::string SkipReason(const Request& request, const Configuration& configuration,
                       const SelectedModel& model, const Experiment& e, std::string_view arch) {
  if (!model.bypass_skips && !request.no_skip) {
    for (const SkipRule& rule : model.rules.skip) {
      if ((!rule.slow || request.fast) && Applies(rule.when, e, arch)) return rule.reason;
    }
  }
  return NotMeasurable(request, configuration, model, e);
}

}  // namespace dynbench::plan

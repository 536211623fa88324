#include <string>
#include <utility>

#include "common/plan/suite.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan {
namespace {

using Json = nlohmann::json;

Json WhenJson(const Condition& when) {
  Json json = Json::object();
  if (!when.device.empty()) json["device"] = when.device;
  if (!when.arch.empty()) json["arch"] = when.arch;
  if (!when.mode.empty()) json["mode"] = when.mode;
  if (!when.test.empty()) json["test"] = when.test;
  if (when.only_freezing) json["freezing"] = true;
  if (!when.precision.empty()) json["precision"] = when.precision;
  if (!when.backend.empty()) json["backend"] = when.backend;
  if (!when.ahead_of_time.empty()) json["ahead_of_time"] = when.ahead_of_time;
  if (when.cudagraphs) json["cudagraphs"] = *when.cudagraphs;
  if (when.distributed) json["distributed"] = *when.distributed;
  return json;
}

Json SkipJson(const SkipRule& rule) {
  return {{"when", WhenJson(rule.when)}, {"reason", rule.reason}, {"slow", rule.slow}};
}

Json RuleJson(const ValueRule& rule) {
  Json json = {{"when", WhenJson(rule.when)}, {"reason", rule.reason}};
  if (rule.tolerance) json["tolerance"] = *rule.tolerance;
  if (rule.batch_size) json["batch_size"] = *rule.batch_size;
  if (rule.optimizer) json["optimizer"] = *rule.optimizer;
  if (rule.precision) json["precision"] = ToString(*rule.precision);
  if (rule.amp_dtype) json["amp_dtype"] = *rule.amp_dtype;
  if (rule.model_mode) json["model_mode"] = *rule.model_mode;
  if (rule.cosine) json["cosine"] = *rule.cosine;
  if (rule.cudagraphs) json["cudagraphs"] = *rule.cudagraphs;
  return json;
}

Json ModelJson(const ModelRules& rules) {
  Json skip = Json::array(), values = Json::array();
  for (const SkipRule& rule : rules.skip) skip.push_back(SkipJson(rule));
  for (const ValueRule& rule : rules.rules) values.push_back(RuleJson(rule));
  return {
      {"name", rules.name},
      {"batch_size", rules.batch_size},
      {"batch_size_training", rules.batch_size_training},
      {"batch_size_accuracy", rules.batch_size_accuracy},
      {"batch_size_accuracy_max", rules.batch_size_accuracy_max},
      {"batch_size_batch_invariant", rules.batch_size_batch_invariant},
      {"batch_size_fixed", rules.batch_size_fixed},
      {"tolerance",
       {{"inference", rules.tolerance_inference},
        {"training", rules.tolerance_training},
        {"freezing", rules.tolerance_freezing}}},
      {"cosine", rules.cosine},
      {"larger_multiplier_for_small_tensors", rules.larger_multiplier_for_small_tensors},
      {"eager_not_deterministic",
       {{"inference", rules.eager_not_deterministic_inference},
        {"training", rules.eager_not_deterministic_training}}},
      {"non_deterministic", rules.non_deterministic},
      {"iou_threshold", rules.iou_threshold},
      {"accuracy_runs", rules.accuracy_runs},
      {"deterministic_algorithms", rules.deterministic_algorithms},
      {"large_model", rules.large_model},
      {"loss_divisor", rules.loss_divisor},
      {"optimizer", rules.optimizer},
      {"mark_batch", rules.mark_batch},
      {"inductor_config", rules.inductor_config},
      {"skip", std::move(skip)},
      {"rules", std::move(values)},
      {"newer", rules.newer},
      {"typical_compile_s", rules.typical_compile_s},
      {"requires", rules.requires_versions},
      {"parameters", rules.parameters},
      {"file", rules.file},
      {"class", rules.class_name},
      {"flaky", rules.flaky},
      {"information", rules.information},
      {"line", rules.line},
  };
}

}  // namespace

Json ToJson(const Suite& suite) {
  Json models = Json::array();
  for (const ModelRules& rules : suite.models) models.push_back(ModelJson(rules));
  return {{"schema", "dynbench.suite/1"},     {"name", suite.name},     {"loader", suite.loader},
          {"description", suite.description}, {"source", suite.source}, {"sha256", suite.sha256},
          {"models", std::move(models)}};
}

}  // namespace dynbench::plan

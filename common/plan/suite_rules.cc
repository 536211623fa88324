#include "common/plan/suite_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan {
namespace {

constexpr int kBatchMax = 1 << 24;
constexpr int kRunsMax = 99;

using Words = std::vector<std::string>;

Words Precisions() { return {"float32", "bfloat16", "float16", "amp"}; }
Words Optimizers() { return {"adam", "sgd", "none"}; }
Words AheadOfTime() {
  return {"any", "export", "aot_inductor", "nativert", "torchscript", "aot_precompile"};
}

// A yes-or-no value that may also be left out.
void Maybe(MapReader& reader, const std::string& key, std::optional<bool>* value) {
  if (reader.Has(key)) reader.Bool(key, &value->emplace());
}

void Maybe(MapReader& reader, const std::string& key, const Words& words,
           std::optional<std::string>* value) {
  if (reader.Has(key)) reader.Word(key, words, &value->emplace());
}

absl::Status ReadCondition(const YamlNode& node, const std::string& object, std::string_view file,
                           Condition* when) {
  MapReader reader(node, object, file);
  reader.Text("device", &when->device);
  reader.Text("arch", &when->arch);
  reader.Word("mode", {"inference", "training"}, &when->mode);
  reader.Word("test", {"performance", "accuracy", "tolerance", "batch_size"}, &when->test);
  reader.Bool("freezing", &when->only_freezing);
  reader.Words("precision", Precisions(), &when->precision);
  reader.Text("backend", &when->backend);
  reader.Word("ahead_of_time", AheadOfTime(), &when->ahead_of_time);
  Maybe(reader, "cudagraphs", &when->cudagraphs);
  Maybe(reader, "distributed", &when->distributed);
  return reader.Finish();
}

// Calls read(reader, item, object of the item) for every item of the list `key`.
template <typename Read>
void ForEachRule(MapReader& reader, const std::string& object, const std::string& key,
                 const std::string& what, Read&& read) {
  const YamlNode* list = reader.Take(key);
  if (list == nullptr) return;
  if (list->kind != YamlNode::Kind::kList) {
    reader.Fail(*list, absl::StrCat(object, ": \"", key, "\" wants a list (- reason: …)"));
    return;
  }
  for (const YamlNode& item : list->items) {
    MapReader rule(item, absl::StrCat(object, ": ", what), reader.file_name());
    read(rule, item, absl::StrCat(object, ": ", what));
    reader.Fail(rule.Finish());
  }
}

void ReadWhen(MapReader& rule, const std::string& object, Condition* when) {
  if (const YamlNode* node = rule.Take("when")) {
    rule.Fail(ReadCondition(*node, object + ": when", rule.file_name(), when));
  }
}

void ReadSkips(MapReader& reader, const std::string& object, std::vector<SkipRule>* rules) {
  ForEachRule(reader, object, "skip", "skip rule",
              [&](MapReader& item, const YamlNode&, const std::string& name) {
                SkipRule& rule = rules->emplace_back();
                item.Text("reason", &rule.reason, MapReader::kRequired);
                item.Bool("slow", &rule.slow);
                ReadWhen(item, name, &rule.when);
              });
}

void ReadValueRule(MapReader& item, const YamlNode& node, const std::string& name,
                   ValueRule* rule) {
  item.Text("reason", &rule->reason, MapReader::kRequired);
  ReadWhen(item, name, &rule->when);
  if (item.Has("tolerance")) item.Positive("tolerance", &rule->tolerance.emplace());
  if (item.Has("batch_size")) item.Integer("batch_size", 1, kBatchMax, &rule->batch_size.emplace());
  Maybe(item, "optimizer", Optimizers(), &rule->optimizer);
  std::optional<std::string> precision;
  Maybe(item, "precision", Precisions(), &precision);
  if (precision) rule->precision = ParsePrecision(*precision);
  Maybe(item, "amp_dtype", {"bfloat16", "float16"}, &rule->amp_dtype);
  Maybe(item, "model_mode", {"train", "eval"}, &rule->model_mode);
  Maybe(item, "cosine", &rule->cosine);
  Maybe(item, "cudagraphs", &rule->cudagraphs);
  ValueRule nothing;
  nothing.when = rule->when;
  nothing.reason = rule->reason;
  if (*rule == nothing) {
    item.Fail(node, name +
                        ": sets nothing; give one of tolerance, batch_size, optimizer, "
                        "precision, amp_dtype, model_mode, cosine, cudagraphs");
  }
}

absl::Status ReadTolerance(const YamlNode& node, const std::string& object, std::string_view file,
                           Draft* draft) {
  MapReader reader(node, object + ": tolerance", file);
  reader.Positive("inference", &draft->rules.tolerance_inference);
  reader.Positive("training", &draft->rules.tolerance_training);
  double freezing = 0;
  reader.Positive("freezing", &freezing);
  if (freezing > 0) draft->tolerance_freezing = freezing;
  return reader.Finish();
}

void ReadBatchSizes(MapReader& reader, Draft* draft) {
  ModelRules& rules = draft->rules;
  reader.Integer("batch_size", 1, kBatchMax, &rules.batch_size);
  reader.Integer("batch_size_training", 1, kBatchMax, &rules.batch_size_training);
  reader.Integer("batch_size_divisor", 1, kBatchMax, &draft->divisor);
  reader.Integer("batch_size_accuracy", 1, kBatchMax, &rules.batch_size_accuracy);
  reader.Integer("batch_size_accuracy_max", 1, kBatchMax, &rules.batch_size_accuracy_max);
  reader.Integer("batch_size_batch_invariant", 1, kBatchMax, &rules.batch_size_batch_invariant);
  reader.Bool("batch_size_fixed", &rules.batch_size_fixed);
}

void ReadAccuracy(MapReader& reader, const std::string& object, Draft* draft) {
  ModelRules& rules = draft->rules;
  if (const YamlNode* tolerance = reader.Take("tolerance")) {
    reader.Fail(ReadTolerance(*tolerance, object, reader.file_name(), draft));
  }
  reader.Bool("cosine", &rules.cosine);
  reader.Bool("larger_multiplier_for_small_tensors", &rules.larger_multiplier_for_small_tensors);
  reader.Bool("non_deterministic", &rules.non_deterministic);
  reader.Positive("iou_threshold", &rules.iou_threshold);
  reader.Integer("accuracy_runs", 1, kRunsMax, &rules.accuracy_runs);
  reader.Bool("deterministic_algorithms", &rules.deterministic_algorithms);
  reader.Text("large_model", &rules.large_model);
  if (const YamlNode* when = reader.Take("eager_not_deterministic")) {
    MapReader modes(*when, object + ": eager_not_deterministic", reader.file_name());
    modes.Bool("inference", &rules.eager_not_deterministic_inference);
    modes.Bool("training", &rules.eager_not_deterministic_training);
    reader.Fail(modes.Finish());
  }
}

// The parameters that each loader knows (docs/suites.md).
const std::map<std::string, std::vector<std::string>>& KnownParameters() {
  static const auto* known = new std::map<std::string, std::vector<std::string>>{
      {"timm", {}},
      {"path", {}},
      {"huggingface",
       {"kind", "class", "config_class", "config", "checkpoint", "sequence_length", "input_ids",
        "last_token", "decoder_input_ids", "labels", "pad_token_id", "use_cache", "layers_keys",
        "input", "prompt_length", "new_tokens", "prefill"}},
      {"torchbench",
       {"package", "use_cache", "input_shape", "inputs", "training_arguments", "keeps_grad"}},
  };
  return *known;
}

absl::Status CheckParameters(const YamlNode& node, const std::string& object,
                             const std::string& loader, const ModelRules& rules,
                             std::string_view file) {
  const auto fail = [&](const std::string& message) {
    return YamlError(file, node, absl::StrCat(object, ": ", message));
  };
  const std::vector<std::string>& known = KnownParameters().at(loader);
  for (const auto& [name, value] : rules.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return fail(absl::StrCat("the loader \"", loader, "\" has no parameter \"", name, "\"",
                               DidYouMean(name, known)));
    }
    if (name != "config" && name != "training_arguments") continue;
    const auto json = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) {
      return fail(absl::StrCat("the parameter \"", name, "\" wants a JSON object as text"));
    }
  }
  std::vector<std::string> required;
  if (loader == "torchbench") required = {"package"};
  if (loader == "huggingface") {
    const auto kind = rules.parameters.find("kind");
    required = {"kind", "class"};
    if (kind != rules.parameters.end() && kind->second == "forward") {
      required = {"class", "sequence_length", "labels"};
    } else if (kind != rules.parameters.end() && kind->second != "generate") {
      return fail(absl::StrCat("the parameter \"kind\" wants one of forward, generate, not \"",
                               kind->second, "\""));
    }
  }
  for (const std::string& name : required) {
    if (rules.parameters.contains(name)) continue;
    return fail(absl::StrCat("the loader \"", loader, "\" needs the parameter \"", name, "\""));
  }
  return absl::OkStatus();
}

// Upstream's default of its script, which a suite of the same loader has unless it says otherwise.
struct LoaderDefaults {
  const char* loader;
  int accuracy, batch_invariant;
};
constexpr std::array<LoaderDefaults, 3> kLoaderDefaults = {
    {{"timm", 8, 16}, {"huggingface", 1, 8}, {"torchbench", 4, 8}}};

}  // namespace

void ReadRules(MapReader& reader, const std::string& object, Draft* draft) {
  ModelRules& rules = draft->rules;
  ReadBatchSizes(reader, draft);
  ReadAccuracy(reader, object, draft);
  reader.Positive("loss_divisor", &rules.loss_divisor);
  reader.Word("optimizer", Optimizers(), &rules.optimizer);
  reader.Bool("mark_batch", &rules.mark_batch);
  reader.TextMap("inductor_config", &rules.inductor_config);
  reader.TextMap("parameters", &rules.parameters);
  ReadSkips(reader, object, &rules.skip);
  ForEachRule(reader, object, "rules", "rule",
              [&](MapReader& item, const YamlNode& node, const std::string& name) {
                ReadValueRule(item, node, name, &rules.rules.emplace_back());
              });
  const YamlNode* needs = reader.Peek("requires");
  reader.TextList("requires", &rules.requires_versions);
  for (const std::string& need : rules.requires_versions) {
    if (needs == nullptr || IsRequirement(need)) continue;
    reader.Fail(*needs, absl::StrCat(object, ": \"", need, "\" is no requirement; give a package, ",
                                     "alone or with a version: [timm, \"torch>=2.10\"]"));
  }
}

ModelRules Settle(Draft draft, const std::string& loader) {
  ModelRules rules = std::move(draft.rules);
  for (int* size : {&rules.batch_size, &rules.batch_size_training}) {
    if (*size > 0) *size = std::max(1, *size / draft.divisor);
  }
  if (rules.batch_size_training == 0) rules.batch_size_training = rules.batch_size;
  for (const LoaderDefaults& defaults : kLoaderDefaults) {
    if (loader != defaults.loader) continue;
    if (rules.batch_size_accuracy == 0) rules.batch_size_accuracy = defaults.accuracy;
    if (rules.batch_size_batch_invariant == 0) {
      rules.batch_size_batch_invariant = defaults.batch_invariant;
    }
  }
  rules.tolerance_freezing = draft.tolerance_freezing.value_or(rules.tolerance_inference);
  return rules;
}

absl::Status CheckLoaderKeys(const YamlNode& node, const std::string& object,
                             const std::string& loader, const ModelRules& rules,
                             std::string_view file) {
  RETURN_IF_ERROR(CheckParameters(node, object, loader, rules, file));
  if (loader == "path") {
    if (!rules.file.empty() && !rules.class_name.empty()) return absl::OkStatus();
    return YamlError(file, node,
                     absl::StrCat(object, ": the loader \"path\" needs \"file\" (a Python file, ",
                                  "relative to this one) and \"class\" (the model's class in it)"));
  }
  if (!rules.file.empty() || !rules.class_name.empty()) {
    return YamlError(file, node,
                     absl::StrCat(object, ": \"file\" and \"class\" belong to the loader ",
                                  "\"path\", and this suite's loader is \"", loader, "\""));
  }
  if (rules.batch_size == 0) {
    return YamlError(file, node,
                     absl::StrCat(object, ": the key \"batch_size\" is missing; give it here or ",
                                  "in \"defaults\""));
  }
  return absl::OkStatus();
}

}  // namespace dynbench::plan

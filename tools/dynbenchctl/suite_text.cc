#include "tools/dynbenchctl/suite_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/formats/text_table.h"

namespace dynbench::cli {
namespace {

void AddLine(const std::string& key, const std::string& value, std::string* text) {
  if (!value.empty()) *text += absl::StrCat("  ", key, ": ", formats::Printable(value), "\n");
}

std::string Size(int n) { return n == 0 ? "the model's own" : std::to_string(n); }

std::string Effects(const plan::ValueRule& rule) {
  std::vector<std::string> effects;
  if (rule.tolerance) effects.push_back(absl::StrCat("tolerance ", *rule.tolerance));
  if (rule.batch_size) effects.push_back(absl::StrCat("batch size ", *rule.batch_size));
  if (rule.optimizer) effects.push_back("optimizer " + *rule.optimizer);
  if (rule.precision) effects.push_back("runs in " + std::string(ToString(*rule.precision)));
  if (rule.amp_dtype) effects.push_back("amp dtype " + *rule.amp_dtype);
  if (rule.model_mode) effects.push_back(*rule.model_mode + " mode");
  if (rule.cosine) effects.emplace_back(*rule.cosine ? "judged by cosine" : "not judged by cosine");
  return absl::StrJoin(effects, ", ");
}

void AddAccuracy(const plan::ModelRules& m, std::string* text) {
  AddLine("tolerance",
          absl::StrCat(m.tolerance_inference, " inference, ", m.tolerance_training, " training, ",
                       m.tolerance_freezing, " with freezing"),
          text);
  const std::pair<bool, const char*> switches[] = {
      {m.cosine, "judged by cosine similarity"},
      {m.larger_multiplier_for_small_tensors, "a larger multiplier for small tensors"},
      {m.eager_not_deterministic_inference, "eager is not deterministic in inference"},
      {m.eager_not_deterministic_training, "eager is not deterministic in training"},
      {m.non_deterministic, "not deterministic: pass, fail_accuracy and differ count as pass"},
      {!m.deterministic_algorithms, "deterministic algorithms are left off"}};
  for (const auto& [holds, words] : switches) {
    if (holds) AddLine("accuracy", words, text);
  }
  if (m.accuracy_runs > 1) {
    AddLine("accuracy", absl::StrCat("the majority of ", m.accuracy_runs, " runs"), text);
  }
  if (m.iou_threshold > 0) {
    AddLine("accuracy", absl::StrCat("masks by intersection over union of ", m.iou_threshold),
            text);
  }
  AddLine("accuracy is pass_due_to_skip", m.large_model, text);
  AddLine("flaky", m.flaky, text);
}

}  // namespace

std::string ConditionWords(const plan::Condition& when, bool slow) {
  std::vector<std::string> words;
  for (const std::string& word : {when.device, when.arch, when.mode, when.test, when.backend}) {
    if (!word.empty()) words.push_back(word);
  }
  if (!when.precision.empty()) words.push_back(absl::StrJoin(when.precision, "/"));
  if (!when.ahead_of_time.empty()) {
    words.push_back(when.ahead_of_time == "any" ? "ahead of time" : when.ahead_of_time);
  }
  if (when.only_freezing) words.emplace_back("freezing");
  if (when.cudagraphs) words.emplace_back(*when.cudagraphs ? "cudagraphs" : "no cudagraphs");
  if (when.distributed) words.emplace_back(*when.distributed ? "distributed" : "not distributed");
  if (slow) words.emplace_back("--fast");
  return words.empty() ? "always" : absl::StrJoin(words, " ");
}

std::string ModelText(const plan::ModelRules& m) {
  std::string text = m.name + "\n";
  AddLine("batch size",
          absl::StrCat(Size(m.batch_size), " inference, ", Size(m.batch_size_training),
                       " training, ", Size(m.batch_size_accuracy), " accuracy",
                       m.batch_size_fixed ? " (fixed: --batch-size has no effect)" : ""),
          &text);
  if (m.batch_size_accuracy_max > 0) {
    AddLine("batch size", absl::StrCat("at most ", m.batch_size_accuracy_max, " for accuracy"),
            &text);
  }
  AddAccuracy(m, &text);
  AddLine("optimizer", m.optimizer, &text);
  if (m.loss_divisor != 1) AddLine("loss divided by", absl::StrCat(m.loss_divisor), &text);
  if (!m.mark_batch) AddLine("dynamic batch", "exempt: its batch is not marked", &text);
  for (const auto& [key, value] : m.inductor_config) AddLine("inductor", key + "=" + value, &text);
  for (const plan::ValueRule& rule : m.rules) {
    AddLine("rule (" + ConditionWords(rule.when, false) + ")",
            Effects(rule) + (rule.reason.empty() ? "" : ": " + rule.reason), &text);
  }
  for (const plan::SkipRule& rule : m.skip) {
    AddLine("skipped (" + ConditionWords(rule.when, rule.slow) + ")", rule.reason, &text);
  }
  AddLine("requires", absl::StrJoin(m.requires_versions, ", "), &text);
  if (m.newer) AddLine("newer", "than the list that upstream cuts its slices from", &text);
  for (const auto& [key, value] : m.parameters) AddLine("parameter", key + "=" + value, &text);
  return text;
}

}  // namespace dynbench::cli

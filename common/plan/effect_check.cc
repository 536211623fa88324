#include "common/plan/effect_check.h"

#include <algorithm>
#include <string>

#include "common/base/status.h"
#include "common/plan/apply_rules.h"

namespace dynbench::plan {
namespace {

absl::Status NoEffect(const std::string& flag, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, " has no effect: ", why, "; remove it"));
}

template <typename T, typename Holds>
bool Any(const std::vector<T>& all, Holds&& holds) {
  return std::any_of(all.begin(), all.end(), holds);
}

// Flags that only some loaders know.
absl::Status CheckLoaders(const Request& r, const std::vector<SelectedModel>& models) {
  const auto has = [&](const std::string& loader) {
    return Any(models, [&](const SelectedModel& m) { return m.source.loader == loader; });
  };
  const auto only = [&](const std::string& loader) {
    return !Any(models, [&](const SelectedModel& m) { return m.source.loader != loader; });
  };
  if (r.activation_checkpointing && !has("huggingface")) {
    return NoEffect("--enable-activation-checkpointing",
                    "only models of the loader huggingface have it");
  }
  if (r.layers > 0 && !has("huggingface")) {
    return NoEffect("--layers", "only models of the loader huggingface can be cut");
  }
  if (!r.part.empty() && !has("torchbench")) {
    return NoEffect("--part", "only models of the loader torchbench have parts");
  }
  if (r.channels_last && only("huggingface")) {
    return NoEffect("--channels-last", "no model of the selection takes images");
  }
  const bool weights_given = r.weights != Weights::kAuto || r.given.contains("weights");
  if (weights_given && only("path")) {
    return NoEffect("--weights", "models of your own files load their own weights");
  }
  return absl::OkStatus();
}

absl::Status CheckGeneration(const Request& r, const std::vector<SelectedModel>& models) {
  if (r.generation.empty() && r.prompt_length == 0) return absl::OkStatus();
  if (Any(models, [](const SelectedModel& m) { return Generates(m.rules); })) {
    return absl::OkStatus();
  }
  return NoEffect(r.generation.empty() ? "--prompt-length" : "--hf-inference-mode",
                  "no model of the selection generates");
}

}  // namespace

absl::Status CheckSuiteOptions(const Request& request, const Suite* suite,
                               const std::vector<SelectedModel>& models) {
  if (!models.empty()) {
    RETURN_IF_ERROR(CheckLoaders(request, models));
    RETURN_IF_ERROR(CheckGeneration(request, models));
    if (request.batch_size > 0 && WithOwnBatchSize(request, models).size() == models.size()) {
      return NoEffect("--batch-size", "every model of the selection has a size of its own");
    }
  }
  if (!request.fast || suite == nullptr) return absl::OkStatus();
  for (const ModelRules& rules : suite->models) {
    for (const SkipRule& rule : rules.skip) {
      if (rule.slow) return absl::OkStatus();
    }
  }
  return NoEffect("--fast", absl::StrCat("the suite \"", suite->name, "\" marks no model as slow"));
}

absl::Status CheckEffects(const Request& request, const std::vector<SelectedModel>& models,
                          const std::vector<Experiment>& rows) {
  if (rows.empty()) return absl::OkStatus();
  if (!request.amp_dtype.empty() &&
      !Any(rows, [](const Experiment& e) { return e.effective_precision == Precision::kAmp; })) {
    return NoEffect("--amp-dtype", "nothing is run in amp; add --amp");
  }
  if (request.distributed == "multiprocess" &&
      !Any(rows, [](const Experiment& e) { return e.mode == Mode::kTraining; }) &&
      !Any(models, [](const SelectedModel& m) { return m.source.loader == "torchbench"; })) {
    return NoEffect("--multiprocess",
                    "only training and models of the loader torchbench know of other processes");
  }
  return absl::OkStatus();
}

std::vector<std::string> WithOwnBatchSize(const Request& request,
                                          const std::vector<SelectedModel>& models) {
  std::vector<std::string> names;
  if (request.generation == "prefill") return names;
  for (const SelectedModel& model : models) {
    const bool asked_for = request.batch_size > 0 || request.batch_sizes.contains(model.rules.name);
    if (asked_for && model.rules.batch_size_fixed) names.push_back(model.rules.name);
  }
  return names;
}

}  // namespace dynbench::plan

#include "common/plan/option_check.h"

#include <algorithm>
#include <string>

#include "common/base/status.h"
#include "common/plan/apply_rules.h"
#include "common/plan/nearest.h"
#include "common/plan/request_check.h"

namespace dynbench::plan {
namespace {

using Configurations = std::vector<Configuration>;

template <typename T>
bool Has(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// The flag that asks for a test or a mode.
std::string FlagOf(Test test) {
  return test == Test::kBatchSize ? "--find-batch-sizes" : "--" + std::string(ToString(test));
}

std::string FlagsOf(const std::vector<Test>& tests) {
  std::string flags;
  for (const Test test : tests) flags += (flags.empty() ? "" : " and ") + FlagOf(test);
  return flags;
}

// An option that only some of the tests listen to.
absl::Status NeedsTest(const Request& r, const std::vector<Test>& listening,
                       const std::string& flag, bool is_set) {
  if (!is_set) return absl::OkStatus();
  const std::vector<Test> tests = TestsOf(r);
  for (const Test test : listening) {
    if (Has(tests, test)) return absl::OkStatus();
  }
  return Wrong(absl::StrCat("--", flag, " has no effect: it is for the ",
                            std::string(ToString(listening.front())), " test, and only ",
                            FlagsOf(tests), " was asked for; remove it or add ",
                            FlagOf(listening.front())));
}

absl::Status NeedsMode(const Request& r, Mode mode, const std::string& flag, bool is_set) {
  if (!is_set || Has(ModesOf(r), mode)) return absl::OkStatus();
  const bool training = mode == Mode::kTraining;
  return Wrong(absl::StrCat("--", flag, " has no effect: it is for ", std::string(ToString(mode)),
                            ", and only --", training ? "inference" : "training",
                            " was asked for; remove it or add --", std::string(ToString(mode))));
}

absl::Status CheckTests(const Request& r) {
  const Request defaults;
  const auto changed = [&](const char* flag, bool differs) {
    return r.given.contains(flag) || differs;
  };
  struct Option {
    std::vector<Test> listening;
    const char* flag;
    bool is_set;
  };
  const std::vector<Test> timed = {Test::kPerformance}, compared = {Test::kAccuracy};
  const Option options[] = {
      {timed, "repeat", changed("repeat", r.repeat != defaults.repeat)},
      {timed, "iterations-per-run",
       changed("iterations-per-run", r.iterations_per_run != defaults.iterations_per_run)},
      {timed, "target-precision", changed("target-precision", r.target_precision != 0)},
      {timed, "randomize-input", r.randomize_input},
      {timed, "deterministic", r.deterministic},
      {timed, "collect-outputs", r.collect_outputs},
      {timed, "use-warm-peak-memory", r.warm_peak_memory},
      {timed, "profile_dynamo_cache_lookup", r.measure_cache_lookup},
      {timed, "instances", changed("instances", r.instances != defaults.instances)},
      {{Test::kAccuracy, Test::kTolerance},
       "iterations",
       changed("iterations", r.iterations != defaults.iterations)},
      {compared, "accuracy-tolerance", r.tolerance.has_value()},
      {compared, "cosine", r.cosine},
      {compared, "skip-accuracy-check", r.skip_accuracy_check},
      {compared, "batch-invariant", r.batch_invariant},
      {compared, "save-model-outputs-to", !r.save_outputs_to.empty()},
      {compared, "compare-model-outputs-with", !r.compare_outputs_with.empty()},
      {compared, "minify", r.minify},
  };
  for (const Option& option : options) {
    RETURN_IF_ERROR(NeedsTest(r, option.listening, option.flag, option.is_set));
  }
  return absl::OkStatus();
}

absl::Status CheckModes(const Request& r) {
  struct Option {
    Mode mode;
    const char* flag;
    bool is_set;
  };
  const Option options[] = {
      {Mode::kTraining, "optimizer", !r.optimizer.empty()},
      {Mode::kTraining, "use-eval-mode", r.use_eval_mode},
      {Mode::kTraining, "enable-activation-checkpointing", r.activation_checkpointing},
      {Mode::kTraining, "collect-outputs", r.collect_outputs},
      {Mode::kTraining, "ddp", r.distributed == "ddp"},
      {Mode::kInference, "batch-invariant", r.batch_invariant},
      {Mode::kInference, "hf-inference-mode", !r.generation.empty()},
  };
  for (const Option& option : options) {
    RETURN_IF_ERROR(NeedsMode(r, option.mode, option.flag, option.is_set));
  }
  return absl::OkStatus();
}

absl::Status CheckDistributed(const Request& r) {
  if (r.world_size != 0 && r.distributed.empty()) {
    return Wrong(
        "--world-size has no effect alone; add one of --multiprocess, --ddp and --fsdp, or remove "
        "it");
  }
  if (!r.distributed.empty() && (r.world_size < 0 || r.world_size == 1)) {
    return Wrong(absl::StrCat("--world-size wants at least 2, not ", r.world_size));
  }
  if (!r.optimize_ddp.empty() && r.distributed != "ddp") {
    return Wrong("--optimize-ddp-mode has no effect without --ddp; remove it or add --ddp");
  }
  return absl::OkStatus();
}

// What upstream's prefill refuses, it being one timed forward pass into a static cache.
absl::Status CheckPrefill(const Request& r, const Configurations& configurations) {
  for (const Configuration& configuration : configurations) {
    if (GenerationAskedFor(r, configuration) != "prefill") continue;
    const CompileOptions& o = configuration.options;
    const char* with = o.dynamic_shapes                 ? "dynamic shapes"
                       : !o.ahead_of_time.empty()       ? "a path ahead of time"
                       : o.backend == "nothing"         ? "the backend \"nothing\""
                       : !r.distributed.empty()         ? "several processes"
                       : r.precision == Precision::kAmp ? "--amp"
                                                        : nullptr;
    if (with == nullptr) continue;
    return Wrong(absl::StrCat("prefill (configuration ", configuration.name,
                              ") cannot be measured with ", with, "; give one of the two"));
  }
  return absl::OkStatus();
}

// The flag that sets the option called `option` in a configuration.
std::string FlagOf(const std::string& option) {
  if (option == "compile_mode") return "--inductor-compile-mode";
  if (option == "fullgraph") return "--nopython";
  std::string flag = "--" + option;
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

std::string FlagOfPath(const std::string& ahead_of_time) {
  if (ahead_of_time == "aot_inductor") return "--export-aot-inductor";
  if (ahead_of_time == "nativert") return "--export-nativert";
  if (ahead_of_time == "torchscript") return "--torchscript-jit-trace";
  return ahead_of_time == "aot_precompile" ? "--aot-precompile" : "--export";
}

std::string WhatCompiles(const CompileOptions& options) {
  return options.ahead_of_time.empty() ? "--backend=" + options.backend
                                       : FlagOfPath(options.ahead_of_time);
}

absl::Status CheckBareOptions(const Request& r) {
  if (!r.options) return absl::OkStatus();
  const std::string contradiction = Contradiction(*r.options);
  if (!contradiction.empty()) return Wrong(contradiction);
  const std::string option = OptionWithoutEffect(*r.options);
  if (!option.empty()) {
    return Wrong(absl::StrCat(FlagOf(option), " has no effect with ", WhatCompiles(*r.options),
                              "; remove it"));
  }
  if (!r.given.contains("disable-cudagraphs")) return absl::OkStatus();
  // Upstream's dashboard says so beside --export, though nothing is compiled there.
  if (r.options->ahead_of_time == "export") return absl::OkStatus();
  CompileOptions with_cudagraphs = *r.options;
  with_cudagraphs.cudagraphs = true;
  if (OptionWithoutEffect(with_cudagraphs) != "cudagraphs") return absl::OkStatus();
  return Wrong(absl::StrCat("--disable-cudagraphs has no effect with ", WhatCompiles(*r.options),
                            "; remove it"));
}

// What a configuration does in inference only, and what is wrong when only training was asked for.
absl::Status CheckInferenceOnly(const Request& r, const Configurations& configurations) {
  if (Has(ModesOf(r), Mode::kInference)) return absl::OkStatus();
  for (const Configuration& configuration : configurations) {
    const CompileOptions& o = configuration.options;
    std::string flag, what;
    if (o.freezing) {
      flag = "--freezing", what = "freezing";
    } else if (!o.ahead_of_time.empty()) {
      flag = FlagOfPath(o.ahead_of_time), what = "ahead of time";
    } else if (!o.quantization.empty()) {
      flag = "--quantization", what = "quantization";
    } else if (!configuration.modes.empty() && !Has(configuration.modes, Mode::kTraining)) {
      what = "it";
    } else {
      continue;
    }
    return Wrong(absl::StrCat(
        r.options ? flag : absl::StrCat("--configuration ", configuration.name),
        " has no effect: ", what, " is for inference, and only --training was asked for; remove ",
        "it or add --inference"));
  }
  return absl::OkStatus();
}

// A configuration of which nothing that was asked for is measured.
absl::Status CheckRestrictions(const Request& r, const Configurations& configurations) {
  const std::vector<Test> tests = TestsOf(r);
  const std::vector<Mode> modes = ModesOf(r);
  for (const Configuration& configuration : configurations) {
    const bool some_test = configuration.tests.empty() ||
                           std::any_of(tests.begin(), tests.end(),
                                       [&](Test test) { return Has(configuration.tests, test); });
    if (!some_test) {
      return Wrong(absl::StrCat("--configuration ", configuration.name, " has no effect: it has ",
                                "only the ", std::string(ToString(configuration.tests.front())),
                                " test, and only ", FlagsOf(tests), " was asked for"));
    }
    const bool some_mode = configuration.modes.empty() ||
                           std::any_of(modes.begin(), modes.end(),
                                       [&](Mode mode) { return Has(configuration.modes, mode); });
    if (!some_mode) {
      return Wrong(absl::StrCat("--configuration ", configuration.name, " has no effect: it is ",
                                "for ", std::string(ToString(configuration.modes.front())),
                                " only; remove it or add that mode"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckQuantization(const Request& r, const Configurations& configurations) {
  if (!r.precision || *r.precision == Precision::kBf16) return absl::OkStatus();
  for (const Configuration& configuration : configurations) {
    if (configuration.options.quantization.empty()) continue;
    return Wrong(absl::StrCat("quantization (", configuration.options.quantization,
                              ") starts from bfloat16, not ", std::string(ToString(*r.precision)),
                              "; give --bfloat16"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMeasuring(const Request& r, const Configurations& configurations) {
  RETURN_IF_ERROR(CheckTests(r));
  RETURN_IF_ERROR(CheckModes(r));
  RETURN_IF_ERROR(CheckDistributed(r));
  if (!r.save_outputs_to.empty() && r.save_outputs_to == r.compare_outputs_with) {
    return Wrong(
        "--save-model-outputs-to and --compare-model-outputs-with name the same folder, so that "
        "outputs would be compared with themselves; give two");
  }
  return CheckPrefill(r, configurations);
}

absl::Status CheckCompiling(const Request& r, const Configurations& configurations) {
  if (r.options && !r.configurations.empty()) {
    return Wrong(absl::StrCat("--configuration ", r.configurations.front(),
                              " and bare compiler flags (--backend, --freezing, …) exclude each ",
                              "other; give one of the two"));
  }
  RETURN_IF_ERROR(CheckBareOptions(r));
  RETURN_IF_ERROR(CheckInferenceOnly(r, configurations));
  RETURN_IF_ERROR(CheckRestrictions(r, configurations));
  return CheckQuantization(r, configurations);
}

}  // namespace dynbench::plan

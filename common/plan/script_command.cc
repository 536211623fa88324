#include "common/plan/script_command.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "common/plan/request_check.h"

namespace dynbench::plan {
namespace {

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// Upstream's file for the models of a loader. A `path:` model is loaded by code that all three
// share; this one imports least.
const char* ScriptOf(const std::string& loader) {
  if (loader == "huggingface") return "huggingface.py";
  if (loader == "torchbench") return "torchbench.py";
  return "timm_models.py";
}

bool IsTrue(const std::string& text) {
  return text == "True" || text == "true" || text == "1" || text == "yes" || text == "on";
}

// Settings of dynamo that upstream's parser has a switch for; it has none for any other.
const std::map<std::string, std::string>& DynamoSwitches() {
  static const auto* const switches = new std::map<std::string, std::string>{
      {"suppress_errors", "--suppress-errors"},
      {"compiled_autograd", "--compiled-autograd"},
      {"specialize_int", "--specialize-int"},
      {"caching_precompile", "--caching-precompile"},
  };
  return *switches;
}

// Collects flags in order.
class Flags {
 public:
  void Switch(const std::string& flag, bool wanted) {
    if (wanted) words_.push_back(flag);
  }
  template <typename T>
  void Value(const std::string& flag, const T& value, bool wanted) {
    if (wanted) words_.push_back(absl::StrCat(flag, "=", value));
  }
  void Text(const std::string& flag, const std::string& value) {
    Value(flag, value, !value.empty());
  }
  void Each(const std::string& flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) Value(flag, value, true);
  }
  std::vector<std::string> Take() { return std::move(words_); }
  explicit Flags(std::vector<std::string> words) : words_(std::move(words)) {}

 private:
  std::vector<std::string> words_;
};

const char* TestFlag(Test test) {
  switch (test) {
    case Test::kAccuracy:
      return "--accuracy";
    case Test::kTolerance:
      return "--tolerance";
    default:
      return "--performance";
  }
}

const char* PrecisionFlag(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "--float32";
    case Precision::kFp16:
      return "--float16";
    case Precision::kBf16:
      return "--bfloat16";
    case Precision::kAmp:
      return "--amp";
  }
  return "";
}

// What is compiled, and by what. Upstream's --backend ignores a compile mode, so with one its own
// switch for inductor is meant.
void AddExperiment(const CompileOptions& o, Flags* flags) {
  static const std::map<std::string, std::string> kAheadOfTime = {
      {"export", "--export"},
      {"aot_inductor", "--export-aot-inductor"},
      {"nativert", "--export-nativert"},
      {"torchscript", "--torchscript-jit-trace"},
      {"aot_precompile", "--aot-precompile"}};
  const auto ahead = kAheadOfTime.find(o.ahead_of_time);
  const bool inductor = o.backend == "inductor";
  bool has_cudagraphs = inductor;
  if (ahead != kAheadOfTime.end()) {
    flags->Switch(ahead->second, true);
    has_cudagraphs = o.ahead_of_time == "aot_inductor" || o.ahead_of_time == "aot_precompile";
  } else if (!o.quantization.empty()) {
    flags->Value("--quantization", o.quantization, true);
  } else if (o.backend == "nothing") {
    flags->Switch("--nothing", true);
  } else if (inductor && !o.compile_mode.empty()) {
    flags->Switch("--inductor", true);
  } else {
    flags->Value("--backend", o.backend, true);
  }
  flags->Text("--inductor-compile-mode", o.compile_mode);
  flags->Switch("--nopython", o.fullgraph);
  flags->Switch("--disable-cudagraphs", has_cudagraphs && !o.cudagraphs);
  flags->Switch("--freezing", o.freezing);
  flags->Switch("--dynamic-batch-only", o.dynamic_batch_only);
  flags->Switch("--unbacked-batch-only", o.unbacked_batch_only);
  flags->Switch("--dynamic-shapes",
                o.dynamic_shapes && !o.dynamic_batch_only && !o.unbacked_batch_only);
  for (const auto& [key, value] : o.inductor_config) {
    flags->Value("--inductor-config", absl::StrCat(key, "=", value), true);
  }
  for (const auto& [key, value] : o.dynamo_config) {
    const auto found = DynamoSwitches().find(key);
    flags->Switch(found == DynamoSwitches().end() ? "" : found->second,
                  found != DynamoSwitches().end() && IsTrue(value));
  }
}

void AddModelState(const Request& r, const Experiment& e, Flags* flags) {
  flags->Switch("--channels-last", r.channels_last);
  // The file of batch sizes stays with the submitter; what it says of this model means the same.
  const auto listed = r.batch_sizes.find(e.model);
  flags->Value("--batch-size", r.batch_size > 0 ? r.batch_size : e.batch_size,
               r.batch_size > 0 || listed != r.batch_sizes.end());
  flags->Switch("--use-eval-mode", r.use_eval_mode);
  flags->Switch("--enable-activation-checkpointing", r.activation_checkpointing);
  flags->Text("--part", r.part);
  flags->Value("--hf-inference-mode", r.generation,
               r.generation == "generate" || r.generation == "prefill");
  flags->Value("--prompt-length", r.prompt_length, r.prompt_length > 0);
  flags->Switch("--randomize-input", r.randomize_input && e.test == Test::kPerformance);
  flags->Switch("--" + r.distributed, !r.distributed.empty());
  flags->Text("--optimize-ddp-mode", r.optimize_ddp);
}

void AddMeasuring(const Request& r, const Experiment& e, Flags* flags) {
  const Request defaults;
  const bool performance = e.test == Test::kPerformance;
  const auto given = [&](const char* name, int64_t value, int64_t otherwise) {
    return r.given.contains(name) || value != otherwise;
  };
  flags->Value("--repeat", r.repeat, performance && given("repeat", r.repeat, defaults.repeat));
  flags->Value("--iterations-per-run", r.iterations_per_run,
               performance &&
                   given("iterations-per-run", r.iterations_per_run, defaults.iterations_per_run));
  flags->Value("--iterations", r.iterations,
               !performance && given("iterations", r.iterations, defaults.iterations));
  flags->Value("--threads", r.threads, given("threads", r.threads, defaults.threads));
  flags->Value("--timeout", (r.timeout_ms + 999) / 1000,
               given("timeout", r.timeout_ms, defaults.timeout_ms));
  flags->Switch("--deterministic", r.deterministic);
  if (performance) {
    flags->Switch("--collect-outputs", r.collect_outputs);
    flags->Switch("--use-warm-peak-memory", r.warm_peak_memory);
    flags->Switch("--profile_dynamo_cache_lookup", r.measure_cache_lookup);
  } else {
    flags->Switch("--cosine", r.cosine);
    flags->Switch("--skip-accuracy-check", r.skip_accuracy_check);
    flags->Switch("--batch-invariant", r.batch_invariant);
    flags->Text("--save-model-outputs-to", r.save_outputs_to);
    flags->Text("--compare-model-outputs-with", r.compare_outputs_with);
    flags->Switch("--minify", r.minify);
  }
  flags->Switch("--explain", r.explain);
}

// What selects models: the child ignores it, and upstream's parent passes it all the same.
void AddSelection(const Request& r, Flags* flags) {
  flags->Each("--filter", r.filters);
  flags->Each("--exclude", r.excludes);
  flags->Each("--exclude-exact", r.exclude_exact);
  flags->Switch("--no-skip", r.no_skip);
  flags->Switch("--fast", r.fast);
  flags->Text("--device", r.device);
  flags->Value("--total-partitions", r.total_partitions, r.partition_id >= 0);
  flags->Value("--partition-id", r.partition_id, r.partition_id >= 0);
}

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The plan's own placeholders in a word of a command; the worker's stay.
std::string Planned(std::string word, const Experiment& e) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"{suite}", e.suite},
      {"{model}", e.model},
      {"{mode}", std::string(ToString(e.mode))},
      {"{test}", std::string(ToString(e.test))},
      {"{configuration}", e.configuration},
      {"{precision}", std::string(ToString(e.precision))},
      {"{device}", e.device},
      {"{batch_size}", absl::StrCat(e.batch_size)}};
  for (const auto& [name, value] : known) {
    for (size_t at = word.find(name); at != std::string::npos;
         at = word.find(name, at + value.size())) {
      word.replace(at, name.size(), value);
    }
  }
  return word;
}

// The first thing that was asked for and that upstream's parser has no flag for.
std::optional<std::string> WithoutFlag(const Request& r) {
  if (r.layers > 0) return "--layers";
  if (!r.optimizer.empty()) return "--optimizer";
  if (r.tolerance) return "--tolerance VALUE";
  if (r.weights != Weights::kAuto || r.given.contains("weights")) return "--weights";
  if (r.instances > 1) return "--instances";
  if (r.target_precision > 0) return "--target-precision";
  if (!r.diagnostics.empty()) return "a diagnostic rerun";
  if (std::find(r.tests.begin(), r.tests.end(), Test::kBatchSize) != r.tests.end()) {
    return "--find-batch-sizes";
  }
  return std::nullopt;
}

absl::Status CheckScript(const Request& r, const std::vector<Configuration>& configurations) {
  if (r.scripts.empty()) {
    return Wrong(
        "--engine script wants --scripts DIR: the folder of upstream's timm_models.py, "
        "huggingface.py and torchbench.py, on the workers");
  }
  if (r.scripts[0] != '/') {
    return Wrong(
        absl::StrCat("--scripts ", r.scripts,
                     ": give an absolute path; it is looked up on the workers, each run in "
                     "a folder of its own"));
  }
  if (const auto flag = WithoutFlag(r)) {
    return Wrong(absl::StrCat(*flag,
                              " has no effect with --engine script: upstream's scripts have ",
                              "no flag for it; remove it or use --engine native"));
  }
  for (const Configuration& configuration : configurations) {
    const CompileOptions& o = configuration.options;
    for (const auto& [key, value] : o.dynamo_config) {
      if (DynamoSwitches().contains(key) && IsTrue(value)) continue;
      return Wrong(absl::StrCat("--dynamo-config ", key, "=", value,
                                " has no effect with --engine script: upstream's scripts have no "
                                "flag for it; use --engine native"));
    }
    if (!o.functorch_config.empty()) {
      return Wrong(
          "--functorch-config has no effect with --engine script: upstream's scripts have "
          "no flag for it; use --engine native");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckEngine(const Request& r, const std::vector<Configuration>& configurations) {
  static const std::vector<std::string> kEngines = {kNativeEngine, kScriptEngine, kCommandEngine};
  if (std::find(kEngines.begin(), kEngines.end(), r.engine) == kEngines.end()) {
    return Wrong(absl::StrCat("unknown engine \"", r.engine, "\"", DidYouMean(r.engine, kEngines),
                              "; known are native, script and command"));
  }
  if (r.engine != kScriptEngine && !r.scripts.empty()) {
    return Wrong("--scripts has no effect without --engine script; add it or remove --scripts");
  }
  if (r.engine != kCommandEngine && !r.command.empty()) {
    return Wrong(absl::StrCat("the program ", r.command[0],
                              " has no effect without --engine command; add it or remove the "
                              "program"));
  }
  if (r.engine == kNativeEngine) return absl::OkStatus();
  if (r.engine == kCommandEngine && (r.command.empty() || r.command[0].empty())) {
    return Wrong("--engine command wants a program: write -- PROGRAM ARGUMENTS at the end");
  }
  for (const auto& [variable, value] : r.set_env) {
    if (ProgramMaySet(variable)) continue;
    return Wrong(
        absl::StrCat("--set-env ", variable, ": not a variable that a job may set; allowed ",
                     "are those that torch, its libraries and OpenMP read (TORCH…, TRITON_…, ",
                     "OMP_…, MKL_…, KMP_…, CUBLAS_WORKSPACE_CONFIG, DYNBENCH_MODEL_…)"));
  }
  return r.engine == kScriptEngine ? CheckScript(r, configurations) : absl::OkStatus();
}

bool IsBareCommand(const Request& r) {
  return r.engine == kCommandEngine && r.suite.empty() && !r.inline_suite &&
         r.path_models.empty() && r.models.empty() && r.only.empty();
}

Selection SelectCommand(const Request& r) {
  SelectedModel model;
  model.suite = kCommandSuite;
  model.rules.name = r.label.empty() ? FileName(r.command[0]) : r.label;
  model.source.loader = kCommandSuite;
  model.source.name = model.rules.name;
  Selection selection;
  selection.models.push_back(std::move(model));
  return selection;
}

void ApplyEngine(const Request& r, const CompileOptions& options, Experiment* e) {
  e->engine = r.engine;
  if (r.engine == kCommandEngine) {
    for (const std::string& word : r.command) e->command.push_back(Planned(word, *e));
  }
  if (r.engine != kScriptEngine) return;
  e->command = ScriptCommand(r, options, *e);
  // Upstream has these as variables only.
  if (options.cpp_wrapper) e->set_env.emplace("TORCHINDUCTOR_CPP_WRAPPER", "1");
  if (options.max_autotune) e->set_env.emplace("TORCHINDUCTOR_MAX_AUTOTUNE", "1");
}

std::vector<std::string> ScriptCommand(const Request& r, const CompileOptions& options,
                                       const Experiment& e) {
  std::string folder = r.scripts;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  Flags flags(
      {"{python}", absl::StrCat(folder == "/" ? "" : folder, "/", ScriptOf(e.source.loader))});
  flags.Switch(TestFlag(e.test), true);
  // Only what was asked for: upstream without a flag shares one cache, and ours is empty anyway.
  flags.Switch("--cold-start-latency", e.start == Start::kCold && !r.starts.empty());
  flags.Switch("--warm-start-latency", e.start == Start::kWarm);
  flags.Switch("--no-translation-validation", r.given.contains("no-translation-validation"));
  flags.Switch(e.mode == Mode::kTraining ? "--training" : "--inference", true);
  flags.Switch(PrecisionFlag(e.precision), true);
  flags.Text("--amp-dtype", r.amp_dtype);
  AddExperiment(options, &flags);
  AddModelState(r, e, &flags);
  AddMeasuring(r, e, &flags);
  AddSelection(r, &flags);
  flags.Value("--output", "{output}", true);
  flags.Value(
      "--only",
      e.source.loader == "path" ? absl::StrCat("path:{model_file},class:", e.source.name) : e.model,
      true);
  return flags.Take();
}

bool ProgramMaySet(std::string_view variable) {
  // The worker's own, and one that names libraries to load.
  static constexpr std::string_view kNever[] = {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
                                                "OMP_TOOL_LIBRARIES"};
  static constexpr std::string_view kNames[] = {"CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG",
                                                "NVIDIA_TF32_OVERRIDE"};
  static constexpr std::string_view kPrefixes[] = {"TORCH", "TRITON_", "OMP_",
                                                   "MKL_",  "KMP_",    "DYNBENCH_MODEL_"};
  if (std::find(std::begin(kNever), std::end(kNever), variable) != std::end(kNever)) return false;
  return std::find(std::begin(kNames), std::end(kNames), variable) != std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
           return variable.substr(0, prefix.size()) == prefix;
         });
}

}  // namespace dynbench::plan

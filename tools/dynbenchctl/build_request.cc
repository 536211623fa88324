#include "tools/dynbenchctl/build_request.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/durations.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/pairs.h"
#include "common/plan/request_check.h"
#include "tools/dynbenchctl/compile_flags.h"
#include "tools/dynbenchctl/flag_rules.h"
#include "tools/dynbenchctl/request_files.h"

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;

// A model file is source text; more than this is the wrong file.
constexpr uintmax_t kFileBytesMax = 16 << 20;

constexpr double kTimeoutSecondsMax = 30.0 * 86400;  // beyond is a typing error

absl::StatusOr<std::string> ReadFile(const std::string& flag, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return absl::InvalidArgumentError(flag + " " + path + ": is a folder, not a file");
  }
  const uintmax_t size = fs::file_size(path, error);
  if (error) return absl::NotFoundError(flag + " " + path + ": " + error.message());
  if (size > kFileBytesMax) {
    return absl::InvalidArgumentError(flag + " " + path + ": is larger than 16 MiB");
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return absl::InvalidArgumentError(flag + " " + path + ": cannot be read");
  return bytes;
}

constexpr size_t kLabelBytesMax = 200;

template <typename T, typename Parse>
absl::Status ParseWords(const char* flag, const std::vector<std::string>& words, Parse parse,
                        std::vector<T>* out) {
  for (const std::string& word : words) {
    const auto value = parse(word);
    if (!value) {
      return absl::InvalidArgumentError(std::string(flag) + ": '" + word +
                                        "' is not one of its words");
    }
    if (std::find(out->begin(), out->end(), *value) == out->end()) out->push_back(*value);
  }
  return absl::OkStatus();
}

absl::Status BuildWords(const SubmitFlags& f, plan::Request* r) {
  RETURN_IF_ERROR(ParseWords("--mode", f.mode, plan::ParseMode, &r->modes));
  if (f.inference) r->modes = {plan::Mode::kInference};
  if (f.training) r->modes = {plan::Mode::kTraining};
  RETURN_IF_ERROR(ParseWords("--test", f.test, plan::ParseTest, &r->tests));
  if (f.performance) r->tests = {plan::Test::kPerformance};
  if (f.accuracy) r->tests = {plan::Test::kAccuracy};
  if (f.tolerance) r->tests = {plan::Test::kTolerance};
  // Upstream wants one of --performance and --accuracy beside it, which it then does not run.
  if (f.find_batch_sizes) r->tests = {plan::Test::kBatchSize};
  RETURN_IF_ERROR(ParseWords("--start", f.start, plan::ParseStart, &r->starts));
  if (f.cold_start_latency) r->starts = {plan::Start::kCold};
  if (f.warm_start_latency) r->starts = {plan::Start::kWarm};
  if (f.precision) r->precision = plan::ParsePrecision(*f.precision);
  if (f.float32) r->precision = plan::Precision::kFp32;
  if (f.bfloat16) r->precision = plan::Precision::kBf16;
  if (f.float16) r->precision = plan::Precision::kFp16;
  if (f.amp) r->precision = plan::Precision::kAmp;
  if (f.weights) r->weights = plan::ParseWeights(*f.weights).value_or(plan::Weights::kAuto);
  return absl::OkStatus();
}

absl::Status BuildCompiler(const SubmitFlags& f, plan::Request* r) {
  r->configurations = f.configuration;
  ASSIGN_OR_RETURN(r->options, CompileOptionsOf(f));
  return absl::OkStatus();
}

absl::Status BuildModels(const SubmitFlags& f, const std::string& cwd, BuiltRequest* built) {
  plan::Request& r = built->request;
  r.models = f.models;
  r.filters = f.filter;
  r.excludes = f.exclude;
  r.exclude_exact = f.exclude_exact;
  r.no_skip = f.no_skip;
  r.fast = f.fast;
  for (const std::string& only : f.only) {
    if (!IsPathModel(only)) {
      r.only.push_back(only);
      continue;
    }
    ASSIGN_OR_RETURN(const PathModel model, ParsePathModel(only));
    LocalFile file{ResolvePath(cwd, model.path), fs::path(model.path).filename(), "", ""};
    ASSIGN_OR_RETURN(file.bytes, ReadFile("--only", file.path));
    file.sha256 = Sha256Hex(file.bytes);
    r.path_models.push_back({"path", model.class_name, file.sha256, file.name, {}});
    built->files.push_back(std::move(file));
  }
  return absl::OkStatus();
}

absl::Status BuildSuite(const SubmitFlags& f, const std::string& cwd, BuiltRequest* built) {
  plan::Request& r = built->request;
  if (f.preset) return absl::OkStatus();  // its submissions name their suites
  if (!r.path_models.empty() && r.only.empty()) {
    if (f.suite) {
      built->notes.push_back("--only path:… forms the suite 'path'; --suite " + *f.suite +
                             " is not used");
    }
    return absl::OkStatus();
  }
  if (!f.suite && f.engine == "command") return absl::OkStatus();  // the program is the model
  if (!f.suite || f.suite->empty()) {
    return absl::InvalidArgumentError(
        "--suite is missing: name an installed suite (dynbenchctl suite list) or your own "
        "FILE.yaml, or give --only path:/abs/model.py,class:Name");
  }
  const std::string& suite = *f.suite;
  const bool is_file = suite.find('/') != std::string::npos ||
                       fs::path(suite).extension() == ".yaml" ||
                       fs::path(suite).extension() == ".yml";
  if (!is_file) {
    r.suite = suite;
    return absl::OkStatus();
  }
  const std::string path = ResolvePath(cwd, suite);
  ASSIGN_OR_RETURN(r.inline_suite, plan::LoadSuite(path));
  for (const plan::ModelRules& model : r.inline_suite->models) {
    if (model.file.empty()) continue;
    LocalFile file{ResolvePath(fs::path(path).parent_path(), model.file),
                   fs::path(model.file).filename(), "", ""};
    ASSIGN_OR_RETURN(file.bytes,
                     ReadFile(path + ":" + std::to_string(model.line) + ": file", file.path));
    file.sha256 = Sha256Hex(file.bytes);
    r.model_files[model.file] = file.sha256;
    built->files.push_back(std::move(file));
  }
  return absl::OkStatus();
}

absl::Status BuildPrecision(const SubmitFlags& f, plan::Request* r) {
  if (f.target_precision) {
    double percent = 0;
    if (!absl::SimpleAtod(absl::StripSuffix(*f.target_precision, "%"), &percent)) {
      return absl::InvalidArgumentError("--target-precision '" + *f.target_precision +
                                        "': wants percent, such as 1%");
    }
    r->target_precision = percent / 100;
  }
  if (f.precision_budget) {
    ASSIGN_OR_RETURN(r->precision_budget_ms,
                     ParseDurationMs(*f.precision_budget, "--precision-budget"));
  }
  return absl::OkStatus();
}

absl::Status BuildMeasuring(const SubmitFlags& f, const std::string& cwd, plan::Request* r) {
  r->batch_size = f.batch_size.value_or(0);
  if (f.batch_size_file) {
    const std::string path = ResolvePath(cwd, *f.batch_size_file);
    ASSIGN_OR_RETURN(const std::string text, ReadFile("--batch-size-file", path));
    ASSIGN_OR_RETURN(r->batch_sizes, ParseBatchSizes(text, path));
  }
  r->repeat = f.repeat.value_or(r->repeat);
  RETURN_IF_ERROR(BuildPrecision(f, r));
  r->iterations = f.iterations.value_or(r->iterations);
  r->iterations_per_run = f.iterations_per_run.value_or(r->iterations_per_run);
  r->threads = f.threads.value_or(0);
  if (f.timeout_s) {
    if (!(*f.timeout_s > 0 && *f.timeout_s <= kTimeoutSecondsMax)) {
      return absl::InvalidArgumentError("--timeout wants seconds, above 0 and at most 30 days");
    }
    r->timeout_ms = static_cast<int64_t>(std::ceil(*f.timeout_s * 1000));
  }
  r->randomize_input = f.randomize_input;
  r->collect_outputs = f.collect_outputs;
  r->deterministic = f.deterministic;
  r->warm_peak_memory = f.warm_peak_memory;
  r->measure_cache_lookup = f.cache_lookup;
  r->instances = f.instances.value_or(r->instances);
  ASSIGN_OR_RETURN(r->set_env, ParsePairs("--set-env", f.set_env));
  if (f.device.size() > 1) {
    return absl::InvalidArgumentError("--device is given twice: a job has one device");
  }
  if (!f.device.empty()) r->device = f.device.front();
  return absl::OkStatus();
}

void BuildStep(const SubmitFlags& f, plan::Request* r) {
  r->amp_dtype = f.amp_dtype.value_or("");
  r->optimizer = f.optimizer.value_or("");
  r->use_eval_mode = f.use_eval_mode;
  r->activation_checkpointing = f.activation_checkpointing;
  r->channels_last = f.channels_last;
  r->layers = f.layers.value_or(0);
  r->part = f.part.value_or("");
  r->generation = f.generation.value_or("");
  r->prompt_length = f.prompt_length.value_or(0);
  // As upstream, the wrappers imply their processes.
  r->distributed = f.ddp ? "ddp" : f.fsdp ? "fsdp" : f.multiprocess ? "multiprocess" : "";
  r->world_size = f.world_size.value_or(0);
  r->optimize_ddp = f.optimize_ddp_mode.value_or("");
}

// A folder on the workers' hosts, so it is taken as it was typed: relative to what, nobody knows.
absl::Status WorkerFolder(const char* flag, const std::optional<std::string>& typed,
                          std::string* folder) {
  if (!typed) return absl::OkStatus();
  if (typed->empty() || typed->front() != '/') {
    return absl::InvalidArgumentError(std::string(flag) + " '" + *typed +
                                      "': wants an absolute path, since it is a folder on the "
                                      "workers' hosts");
  }
  *folder = *typed;
  return absl::OkStatus();
}

absl::Status BuildJudging(const SubmitFlags& f, plan::Request* r) {
  r->tolerance = f.accuracy_tolerance;
  r->cosine = f.cosine;
  r->skip_accuracy_check = f.skip_accuracy_check;
  r->batch_invariant = f.batch_invariant;
  r->minify = f.minify;
  RETURN_IF_ERROR(WorkerFolder("--save-model-outputs-to", f.save_outputs_to, &r->save_outputs_to));
  return WorkerFolder("--compare-model-outputs-with", f.compare_outputs_with,
                      &r->compare_outputs_with);
}

absl::Status BuildEngine(const SubmitFlags& f, plan::Request* r) {
  r->engine = f.engine.value_or(r->engine);
  r->command = f.command;
  return WorkerFolder("--scripts", f.scripts, &r->scripts);
}

void BuildInside(const SubmitFlags& f, BuiltRequest* built) {
  plan::Request& r = built->request;
  r.explain = f.explain || f.print_graph_breaks || f.log_graph_breaks;
  if (f.profiler_trace) r.diagnostics.push_back("profiler");
  if (f.snapshot_memory) r.diagnostics.push_back("memory_snapshot");
  if (f.log_operator_inputs) r.diagnostics.push_back("operator_inputs");
  if (!r.diagnostics.empty()) {
    built->notes.push_back(
        "this is a diagnostic run: its timings are not kept, since what watches it slows it down");
  }
  const std::pair<bool, const char*> always[] = {
      {f.stats, "--stats: the counters are in every result (results JOB --json)"},
      {f.timing, "--timing: each phase's duration is in every result (explain JOB MODEL)"},
      {f.progress, "--progress: progress is shown anyway; see also watch JOB"},
      {f.verbose, "--verbose: logs JOB MODEL has everything that was printed"},
      {f.print_memory, "--print-memory: memory is in every result"},
      {f.print_compilation_time, "--print-compilation-time: compile seconds are in every result"},
      {f.print_dataframe_summary, "--print-dataframe-summary: results JOB prints the table"},
      {f.no_translation_validation,
       "--no-translation-validation: translation validation is never switched on here"},
  };
  for (const auto& [given, note] : always) {
    if (given) built->notes.emplace_back(note);
  }
}

void BuildPartitions(const SubmitFlags& f, plan::Request* r) {
  r->total_partitions = f.total_partitions.value_or(1);
  r->partition_id = f.partition_id.value_or(-1);
  // Upstream's flags alone mean upstream's slices.
  if (r->total_partitions > 1) r->policy = plan::PartitionPolicy::kStatic;
  if (f.partition_policy) {
    r->policy = plan::ParsePartitionPolicy(*f.partition_policy).value_or(r->policy);
  }
}

// The options whose typed value may equal the default (common/plan/request.h).
std::set<std::string> GivenOptions(const SubmitFlags& f) {
  const std::vector<std::pair<const char*, bool>> options = {
      {"amp-dtype", f.amp_dtype.has_value()},
      {"batch-size", f.batch_size.has_value()},
      {"batch-size-file", f.batch_size_file.has_value()},
      {"budget", f.budget.has_value()},
      {"disable-cudagraphs", f.disable_cudagraphs},
      {"instances", f.instances.has_value()},
      {"iterations", f.iterations.has_value()},
      {"iterations-per-run", f.iterations_per_run.has_value()},
      {"layers", f.layers.has_value()},
      {"optimizer", f.optimizer.has_value()},
      {"partition-id", f.partition_id.has_value()},
      {"partition-policy", f.partition_policy.has_value()},
      {"prompt-length", f.prompt_length.has_value()},
      {"precision-budget", f.precision_budget.has_value()},
      {"profile", f.profile.has_value()},
      {"repeat", f.repeat.has_value()},
      {"rounds", f.rounds.has_value()},
      {"target-precision", f.target_precision.has_value()},
      {"threads", f.threads.has_value()},
      {"timeout", f.timeout_s.has_value()},
      {"weights", f.weights.has_value()},
      {"world-size", f.world_size.has_value()},
  };
  std::set<std::string> given;
  for (const auto& [name, is_given] : options) {
    if (is_given) given.insert(name);
  }
  return given;
}

// Upstream's name for the file when only a folder is given.
std::string DefaultOutputName(const plan::Request& r) {
  const plan::CompileOptions options = r.options.value_or(plan::CompileOptions());
  const auto only = [&](plan::Test test) { return r.tests == std::vector<plan::Test>{test}; };
  if (only(plan::Test::kBatchSize)) return "batch_sizes.csv";
  if (only(plan::Test::kTolerance)) return "tolerance_" + options.backend + ".csv";
  if (only(plan::Test::kAccuracy)) return "accuracy_" + options.backend + ".csv";
  if (options.backend == "nothing") return "nothing.csv";
  if (options.ahead_of_time.empty()) return "speedup_" + options.backend + ".csv";
  static const std::map<std::string, std::string> names = {
      {"nativert", "export_nativert"},
      {"aot_inductor", "export_aot_inductor"},
      {"torchscript", "torchscript_jit_trace"}};
  const auto found = names.find(options.ahead_of_time);
  return (found == names.end() ? options.ahead_of_time : found->second) + ".csv";
}

absl::Status BuildFiles(const SubmitFlags& f, const std::string& cwd, OutputFiles* files) {
  files->options.tag = f.tag;
  files->beside.stats = f.aot_autograd_stats;
  files->beside.raw_timings = f.dump_raw_metrics;
  if (!f.baseline) return absl::OkStatus();
  const std::string path = ResolvePath(cwd, *f.baseline);
  ASSIGN_OR_RETURN(const std::string text, ReadFile("--baseline", path));
  ASSIGN_OR_RETURN(files->options.baseline, formats::ReadBaseline(text, "--baseline " + path));
  return absl::OkStatus();
}

absl::Status BuildOutput(const SubmitFlags& f, const std::string& cwd, BuiltRequest* built) {
  if (!f.output && !f.output_directory) return absl::OkStatus();
  plan::Request& r = built->request;
  r.output = f.output.value_or(DefaultOutputName(r));
  if (fs::path(r.output).filename().empty()) {
    return absl::InvalidArgumentError("--output '" + r.output + "': names no file");
  }
  RETURN_IF_ERROR(BuildFiles(f, cwd, &built->output));
  built->output.folder = ResolvePath(cwd, f.output_directory.value_or("."));
  if (f.dry_run) return absl::OkStatus();
  // A job may take hours: what would keep its file from being written is said before it starts.
  const std::string path = ResolvePath(built->output.folder, r.output);
  const std::string parent = fs::path(path).parent_path();
  if (access(parent.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError("--output " + path + ": the folder " + parent +
                                      " does not exist or cannot be written to; make it first");
  }
  if (fs::is_directory(path)) {
    return absl::InvalidArgumentError("--output " + path + ": is a folder");
  }
  return absl::OkStatus();
}

absl::Status BuildPairs(const SubmitFlags& f, plan::Request* r) {
  r->base = f.base.value_or("");
  r->fresh = f.fresh.value_or("");
  if ((f.base && f.base->empty()) || (f.fresh && f.fresh->empty())) {
    return absl::InvalidArgumentError("--base and --new want the name of an environment");
  }
  if (f.rounds) {
    const std::vector<std::string> ends = absl::StrSplit(*f.rounds, "..");
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &r->rounds_min) ||
        !absl::SimpleAtoi(ends.back(), &r->rounds_max)) {
      return absl::InvalidArgumentError("--rounds '" + *f.rounds +
                                        "': wants MIN..MAX, such as 3..12, or one number");
    }
  }
  if (f.budget) {
    ASSIGN_OR_RETURN(const int64_t budget_ms, ParseDurationMs(*f.budget, "--budget"));
    r->budget_s = budget_ms / 1000;
  }
  if (plan::IsPairJob(*r)) {
    r->pair_seed = f.seed.value_or(static_cast<int64_t>(std::random_device()()));
  } else if (f.seed) {
    return absl::InvalidArgumentError("--seed has no effect: it is for pairs (--base and --new)");
  }
  return absl::OkStatus();
}

absl::Status BuildLimits(const SubmitFlags& flags, plan::Request* r) {
  if (flags.deadline) {
    ASSIGN_OR_RETURN(const int64_t from_now_ms, ParseDurationMs(*flags.deadline, "--deadline"));
    r->deadline_unix_ms = UnixNow().ms + from_now_ms;
  }
  if (flags.fail_unplaceable && flags.unplaceable_grace) {
    return absl::InvalidArgumentError(
        "--fail-unplaceable is --unplaceable-grace 0s; give one of them");
  }
  if (flags.fail_unplaceable) r->unplaceable_grace_s = 0;
  if (flags.unplaceable_grace) {
    ASSIGN_OR_RETURN(const int64_t grace_ms,
                     ParseDurationMs(*flags.unplaceable_grace, "--unplaceable-grace"));
    r->unplaceable_grace_s = (grace_ms + 999) / 1000;
  }
  return absl::OkStatus();
}

}  // namespace

std::string ResolvePath(const std::string& cwd, const std::string& path) {
  std::string resolved = (fs::path(cwd) / path).lexically_normal().string();
  while (resolved.size() > 1 && resolved.back() == '/') resolved.pop_back();
  return resolved;
}

absl::StatusOr<BuiltRequest> BuildRequest(const SubmitFlags& flags, const std::string& cwd) {
  RETURN_IF_ERROR(CheckFlagRules(flags));
  BuiltRequest built;
  plan::Request& r = built.request;
  RETURN_IF_ERROR(BuildWords(flags, &r));
  RETURN_IF_ERROR(BuildCompiler(flags, &r));
  RETURN_IF_ERROR(BuildModels(flags, cwd, &built));
  RETURN_IF_ERROR(BuildSuite(flags, cwd, &built));
  RETURN_IF_ERROR(BuildMeasuring(flags, cwd, &r));
  BuildStep(flags, &r);
  RETURN_IF_ERROR(BuildJudging(flags, &r));
  RETURN_IF_ERROR(BuildEngine(flags, &r));
  BuildInside(flags, &built);
  BuildPartitions(flags, &r);
  r.environments = flags.environment;
  r.profile = flags.profile.value_or(r.profile);
  r.label = flags.label.value_or(flags.tag.value_or(""));
  if (r.label.size() > kLabelBytesMax) {
    return absl::InvalidArgumentError("--label has " + std::to_string(r.label.size()) +
                                      " bytes; it is shown in every table, so at most " +
                                      std::to_string(kLabelBytesMax));
  }
  r.priority = flags.priority.value_or(0);
  r.require = flags.require;
  RETURN_IF_ERROR(BuildPairs(flags, &r));
  RETURN_IF_ERROR(BuildLimits(flags, &r));
  r.given = GivenOptions(flags);
  RETURN_IF_ERROR(plan::CheckRequest(r, {}));
  RETURN_IF_ERROR(BuildOutput(flags, cwd, &built));
  return built;
}

}  // namespace dynbench::cli

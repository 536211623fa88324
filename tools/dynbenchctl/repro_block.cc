#include "tools/dynbenchctl/repro_block.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/version.h"
#include "common/formats/text_table.h"

#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/row_line.h"

namespace dynbench::cli {
namespace {

using plan::Experiment;

Json ParseOrNull(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(nullptr) : json;
}

// Seconds of a time limit, without a fraction where there is none.
std::string Seconds(int64_t ms) {
  if (ms % 1000 == 0) return std::to_string(ms / 1000);
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ms) / 1000);
  return text;
}

using Words = std::vector<std::string>;

void AddAheadOfTime(const plan::CompileOptions& o, Words* words) {
  static const std::map<std::string, std::string> flags = {
      {"export", "--export"},
      {"aot_inductor", "--export-aot-inductor"},
      {"nativert", "--export-nativert"},
      {"torchscript", "--torchscript-jit-trace"},
      {"aot_precompile", "--aot-precompile"}};
  const auto found = flags.find(o.ahead_of_time);
  words->push_back(found == flags.end() ? "--" + o.ahead_of_time : found->second);
}

void AddCompiler(const Experiment& e, Words* words) {
  if (e.configuration != "custom") {
    words->insert(words->end(), {"--configuration", e.configuration});
    return;
  }
  const plan::CompileOptions& o = e.options;
  if (!o.ahead_of_time.empty()) {
    AddAheadOfTime(o, words);
  } else if (!o.quantization.empty()) {
    words->push_back("--quantization=" + o.quantization);
  } else {
    words->push_back(o.backend == "nothing" ? "--nothing" : "--backend=" + o.backend);
  }
  if (o.backend == "inductor" && !o.cudagraphs) words->push_back("--disable-cudagraphs");
  if (!o.compile_mode.empty()) words->push_back("--inductor-compile-mode=" + o.compile_mode);
  const std::pair<bool, const char*> switches[] = {
      {o.fullgraph, "--nopython"},
      {o.freezing, "--freezing"},
      {o.cpp_wrapper, "--cpp-wrapper"},
      {o.max_autotune, "--max-autotune"},
      {o.dynamic_batch_only, "--dynamic-batch-only"},
      {o.unbacked_batch_only, "--unbacked-batch-only"},
      {o.dynamic_shapes && !o.dynamic_batch_only && !o.unbacked_batch_only, "--dynamic-shapes"}};
  for (const auto& [given, flag] : switches) {
    if (given) words->push_back(flag);
  }
  const std::pair<const char*, const std::map<std::string, std::string>*> settings[] = {
      {"--inductor-config", &o.inductor_config},
      {"--dynamo-config", &o.dynamo_config},
      {"--functorch-config", &o.functorch_config}};
  for (const auto& [flag, map] : settings) {
    for (const auto& [key, value] : *map) words->insert(words->end(), {flag, key + "=" + value});
  }
}

// The model, its step and its processes.
void AddStep(const Experiment& e, Words* words) {
  const auto text = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words->insert(words->end(), {flag, value});
  };
  const auto number = [&](const char* flag, int value) {
    if (value > 0) words->insert(words->end(), {flag, std::to_string(value)});
  };
  text("--amp-dtype", e.precision == plan::Precision::kAmp ? e.amp_dtype : "");
  if (e.mode == plan::Mode::kTraining) {
    text("--optimizer", e.optimizer);
    if (e.model_mode == "eval") words->push_back("--use-eval-mode");
  }
  if (e.activation_checkpointing) words->push_back("--enable-activation-checkpointing");
  if (e.channels_last) words->push_back("--channels-last");
  number("--layers", e.layers);
  text("--part", e.part);
  text("--generation", e.generation);
  if (!e.generation.empty()) number("--prompt-length", e.prompt_length);
  if (e.distributed.empty()) return;
  words->push_back("--" + e.distributed);
  number("--world-size", e.world_size);
  if (e.distributed == "ddp") text("--optimize-ddp-mode", e.optimize_ddp);
}

// What only one test listens to.
void AddTest(const Experiment& e, Words* words) {
  const Experiment defaults;
  const auto number = [&](const char* flag, int value, int usual) {
    if (value != usual) words->insert(words->end(), {flag, std::to_string(value)});
  };
  std::vector<std::pair<bool, const char*>> switches;
  if (e.test == plan::Test::kPerformance) {
    number("--repeat", e.repeat, defaults.repeat);
    number("--iterations-per-run", e.iterations_per_run, defaults.iterations_per_run);
    number("--instances", e.instances, defaults.instances);
    if (e.target_precision > 0) {
      words->insert(words->end(),
                    {"--target-precision", Json(e.target_precision * 100).dump() + "%",
                     "--precision-budget", Seconds(e.precision_budget_ms) + "s"});
    }
    switches = {{e.randomize_input, "--randomize-input"},
                {e.collect_outputs, "--collect-outputs"},
                {e.deterministic, "--deterministic"},
                {e.warm_peak_memory, "--use-warm-peak-memory"},
                {e.measure_cache_lookup, "--profile_dynamo_cache_lookup"}};
  } else if (e.test == plan::Test::kAccuracy) {
    number("--iterations", e.iterations, defaults.iterations);
    words->insert(words->end(), {"--accuracy-tolerance", Json(e.accuracy.tolerance).dump()});
    switches = {{e.accuracy.cosine, "--cosine"},
                {e.accuracy.skip_check, "--skip-accuracy-check"},
                {e.batch_invariant, "--batch-invariant"},
                {e.minify, "--minify"}};
    if (!e.save_outputs_to.empty()) {
      words->insert(words->end(), {"--save-model-outputs-to", e.save_outputs_to});
    }
    if (!e.compare_outputs_with.empty()) {
      words->insert(words->end(), {"--compare-model-outputs-with", e.compare_outputs_with});
    }
  }
  switches.emplace_back(e.explain, "--explain");
  for (const std::string& kind : e.diagnostics) {
    switches.emplace_back(kind == "profiler", "--export-profiler-trace");
    switches.emplace_back(kind == "memory_snapshot", "--snapshot-memory");
    switches.emplace_back(kind == "operator_inputs", "--log-operator-inputs");
  }
  for (const auto& [given, flag] : switches) {
    if (given) words->push_back(flag);
  }
}

constexpr std::string_view kPathPrefix = "path:/";  // of a model whose folder is not known
constexpr char kReproFolder[] = "dynbench-repro";

// Puts the file into a folder below the current one, exact to the byte: its hash is in the series.
std::string WriteFileCommand(const std::string& name, const std::string& bytes) {
  std::string encoded;
  absl::Base64Escape(bytes, &encoded);
  std::string text = "mkdir -p " + std::string(kReproFolder) + " && base64 -d > " + kReproFolder +
                     "/" + ShellQuote(name) + " <<'END'\n";
  for (size_t at = 0; at < encoded.size(); at += 76) text += encoded.substr(at, 76) + "\n";
  return text + "END\n";
}

// Lines "# key: value"; empty values are left out.
class Comments {
 public:
  void Add(const std::string& key, const std::string& value) {
    if (!value.empty()) text_ += "# " + key + ": " + formats::Printable(value) + "\n";
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// The scalar members of a JSON object as "key value, key value".
std::string Flat(const Json& json) {
  std::string text;
  if (!json.is_object()) return text;
  for (const auto& [key, value] : json.items()) {
    if (value.is_structured() || value.is_null()) continue;
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    if (word.empty()) continue;
    text += (text.empty() ? "" : ", ") + key + " " + word;
  }
  return text;
}

}  // namespace

std::vector<std::string> ReproArguments(const Experiment& e) {
  std::vector<std::string> words = {"submit"};
  if (e.source.loader == "path" && e.suite == "path") {
    words.insert(words.end(), {"--only", std::string(kPathPrefix) + e.source.file_name +
                                             ",class:" + e.source.name});
  } else {
    words.insert(words.end(), {"--suite", e.suite, "--only", e.model});
  }
  words.push_back("--" + std::string(ToString(e.mode)));
  words.push_back(e.test == plan::Test::kBatchSize ? "--find-batch-sizes"
                                                   : "--" + std::string(ToString(e.test)));
  words.push_back("--" + std::string(ToString(e.precision)));
  AddCompiler(e, &words);
  words.insert(words.end(), {"--device", e.device, "--environment", e.environment, "--profile",
                             e.profile, "--start", std::string(ToString(e.start))});
  if (e.weights != plan::Weights::kAuto) {  // a model's own file takes no --weights
    words.insert(words.end(), {"--weights", std::string(ToString(e.weights))});
  }
  if (e.batch_size > 0) {
    words.insert(words.end(), {"--batch-size", std::to_string(e.batch_size)});
  }
  AddStep(e, &words);
  AddTest(e, &words);
  const Experiment defaults;
  if (e.threads != defaults.threads) {
    words.insert(words.end(), {"--threads", std::to_string(e.threads)});
  }
  if (e.timeout_ms != defaults.timeout_ms) {
    words.insert(words.end(), {"--timeout", Seconds(e.timeout_ms)});
  }
  for (const auto& [key, value] : e.set_env) {
    words.insert(words.end(), {"--set-env", key + "=" + value});
  }
  words.push_back("--wait");
  if (e.engine == "script" && e.command.size() > 1) {  // the interpreter, then the script
    const std::string folder = std::filesystem::path(e.command[1]).parent_path();
    words.insert(words.end(), {"--engine", "script", "--scripts", folder});
  }
  if (e.engine == "command") {
    words.insert(words.end(), {"--engine", "command", "--"});
    words.insert(words.end(), e.command.begin(), e.command.end());
  }
  return words;
}

std::string ShellQuote(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_=.,:/+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string ReproBlock(const ExperimentView& view) {
  const store::ResultRow& row = view.row.row;
  const Experiment& e = row.experiment;
  Comments comments;
  comments.Add("experiment", std::to_string(row.id.value) + " of job " +
                                 std::to_string(row.job.value) + ", " + plan::DisplayName(e));
  comments.Add("outcome", RowLine(view.row));
  comments.Add("dynbench", kVersion);
  comments.Add("worker", row.worker_host.empty() ? row.worker.value
                                                 : row.worker_host + " (" + row.worker.value + ")");
  const Json environment = ParseOrNull(view.environment_json);
  comments.Add("environment", Flat(environment));
  if (environment.is_object()) {
    comments.Add("packages", Flat(environment.value("packages", Json(nullptr))));
  }
  comments.Add("host", Flat(ParseOrNull(view.inventory_json)));
  comments.Add("launch profile", e.profile);
  comments.Add("series", plan::SeriesKey(e));
  if (row.result) {
    auto number = [](int n) { return n > 0 ? std::to_string(n) : std::string(); };
    comments.Add("batch size", number(row.result->batch_size));
    comments.Add("weights", row.result->weights);
    comments.Add("threads", number(row.result->threads));
    comments.Add("cores", row.result->cores);
    for (const auto& [key, value] : row.result->in_force)
      comments.Add("in force", key + "=" + value);
  }
  comments.Add("finished (UTC)", DateTime(row.finished_at));
  const bool has_file = !view.model_file.empty();
  if (e.source.loader == "path") {
    comments.Add("model file", e.source.file_name + ", SHA-256 " + e.source.file_sha256 +
                                   (has_file ? ", written by this block"
                                             : "; put its absolute path into the command"));
  }
  std::string text = comments.Take();
  if (has_file) text += WriteFileCommand(e.source.file_name, view.model_file);
  text += "dynbenchctl";
  for (const std::string& word : ReproArguments(e)) {
    text += " ";
    if (has_file && word.rfind(kPathPrefix, 0) == 0) {
      text += "path:\"$PWD\"/" + std::string(kReproFolder) + "/" +
              ShellQuote(word.substr(kPathPrefix.size()));
    } else {
      text += ShellQuote(word);
    }
  }
  return text + "\n";
}

Json ReproJson(const ExperimentView& view) {
  const store::ResultRow& row = view.row.row;
  Json argv = {"dynbenchctl"};
  for (const std::string& word : ReproArguments(row.experiment)) argv.push_back(word);
  return {{"schema", "dynbench.repro/1"},
          {"version", kVersion},
          {"id", row.id.value},
          {"job", row.job.value},
          {"experiment", Json::parse(plan::ToJson(row.experiment))},
          {"outcome", OutcomeWord(view.row)},
          {"environment", ParseOrNull(view.environment_json)},
          {"host", ParseOrNull(view.inventory_json)},
          {"worker", row.worker.value},
          {"worker_host", row.worker_host},
          {"in_force", row.result ? Json(row.result->in_force) : Json::object()},
          {"argv", argv},
          {"block", ReproBlock(view)}};
}

}  // namespace dynbench::cli

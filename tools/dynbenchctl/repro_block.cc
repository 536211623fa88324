#include "tools/dynbenchctl/repro_block.h"

#include <algorithm>
#include <cstdio>

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

void AddCompiler(const Experiment& e, std::vector<std::string>* words) {
  if (e.configuration != "custom") {
    words->insert(words->end(), {"--configuration", e.configuration});
    return;
  }
  const plan::CompileOptions& o = e.options;
  words->push_back("--backend=" + o.backend);
  if (o.backend == "inductor" && !o.cudagraphs) words->push_back("--disable-cudagraphs");
  if (!o.compile_mode.empty()) words->push_back("--inductor-compile-mode=" + o.compile_mode);
  if (o.fullgraph) words->push_back("--nopython");
  if (o.freezing) words->push_back("--freezing");
  if (o.cpp_wrapper) words->push_back("--cpp-wrapper");
  if (o.dynamic_batch_only) {
    words->push_back("--dynamic-batch-only");
  } else if (o.dynamic_shapes) {
    words->push_back("--dynamic-shapes");
  }
  for (const auto& [key, value] : o.inductor_config) {
    words->insert(words->end(), {"--inductor-config", key + "=" + value});
  }
  for (const auto& [key, value] : o.dynamo_config) {
    words->insert(words->end(), {"--dynamo-config", key + "=" + value});
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
  words.push_back("--" + std::string(ToString(e.test)));
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
  const Experiment defaults;
  auto add = [&](const char* flag, int value, int usual) {
    if (value != usual) words.insert(words.end(), {flag, std::to_string(value)});
  };
  if (e.test == plan::Test::kPerformance) {
    add("--repeat", e.repeat, defaults.repeat);
    add("--iterations-per-run", e.iterations_per_run, defaults.iterations_per_run);
    if (e.randomize_input) words.push_back("--randomize-input");
  } else {
    add("--iterations", e.iterations, defaults.iterations);
  }
  add("--threads", e.threads, defaults.threads);
  if (e.timeout_ms != defaults.timeout_ms) {
    words.insert(words.end(), {"--timeout", Seconds(e.timeout_ms)});
  }
  if (e.channels_last) words.push_back("--channels-last");
  for (const auto& [key, value] : e.set_env) {
    words.insert(words.end(), {"--set-env", key + "=" + value});
  }
  words.push_back("--wait");
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

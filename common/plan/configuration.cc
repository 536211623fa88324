#include "common/plan/configuration.h"

#include <cctype>
#include <utility>

#include "common/base/status.h"
#include "common/plan/word_lists.h"
#include "common/plan/yaml_reader.h"

namespace dynbench::plan {
namespace {

absl::Status CheckName(const std::string& name, const YamlNode& root, std::string_view file) {
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') {
      return YamlError(
          file, root,
          absl::StrCat("the name \"", name, "\" may hold letters, digits, '_', '-' and '.' only"));
    }
  }
  return absl::OkStatus();
}

void ReadMeasure(const YamlNode& node, std::string_view file, MapReader& parent,
                 Configuration* configuration) {
  MapReader reader(node, "measure", file);
  ReadWords(reader, "starts", {"cold", "warm", "shared"}, &ParseStart, &configuration->starts);
  reader.Integer("repeat", 1, 1'000'000, &configuration->repeat);
  reader.Bool("deterministic", &configuration->deterministic);
  reader.Bool("batch_invariant", &configuration->batch_invariant);
  reader.Word("generation", {"generate", "prefill", "forward"}, &configuration->generation);
  parent.Fail(reader.Finish());
}

std::string WhatCompiles(const CompileOptions& options) {
  return options.ahead_of_time.empty() ? absl::StrCat("the backend \"", options.backend, "\"")
                                       : "ahead_of_time " + options.ahead_of_time;
}

// The first that is set, of options in the order of `all`.
std::string FirstSet(const std::vector<std::pair<const char*, bool>>& all) {
  for (const auto& [name, is_set] : all) {
    if (is_set) return name;
  }
  return "";
}

std::vector<std::pair<const char*, bool>> InductorOptions(const CompileOptions& o) {
  return {{"compile_mode", !o.compile_mode.empty()},
          {"cudagraphs", o.cudagraphs},
          {"freezing", o.freezing},
          {"cpp_wrapper", o.cpp_wrapper},
          {"max_autotune", o.max_autotune},
          {"inductor_config", !o.inductor_config.empty()}};
}

std::vector<std::pair<const char*, bool>> DynamoOptions(const CompileOptions& o) {
  return {{"fullgraph", o.fullgraph},
          {"unbacked_batch_only", o.unbacked_batch_only},
          {"dynamic_batch_only", o.dynamic_batch_only},
          {"dynamic_shapes", o.dynamic_shapes},
          {"dynamo_config", !o.dynamo_config.empty()}};
}

// Of a path ahead of time.
std::string WithoutEffectAheadOfTime(const CompileOptions& o) {
  if (o.ahead_of_time == "torchscript") {  // traced: neither dynamo nor inductor sees the model
    std::string option = FirstSet(InductorOptions(o));
    if (option.empty()) option = FirstSet(DynamoOptions(o));
    if (option.empty() && !o.functorch_config.empty()) option = "functorch_config";
    return option;
  }
  if (o.fullgraph) return "fullgraph";  // there is nothing to fall back to
  if (o.ahead_of_time == "export" || o.ahead_of_time == "nativert") {
    return FirstSet(InductorOptions(o));
  }
  return o.ahead_of_time == "aot_inductor" && o.cpp_wrapper ? "cpp_wrapper" : "";
}

}  // namespace

void ReadOptions(MapReader& reader, CompileOptions* options) {
  reader.Text("backend", &options->backend, MapReader::kRequired);
  reader.Text("compile_mode", &options->compile_mode);
  reader.Bool("fullgraph", &options->fullgraph);
  reader.Bool("cudagraphs", &options->cudagraphs);
  reader.Bool("freezing", &options->freezing);
  reader.Bool("cpp_wrapper", &options->cpp_wrapper);
  reader.Bool("max_autotune", &options->max_autotune);
  reader.Bool("dynamic_shapes", &options->dynamic_shapes);
  reader.Bool("dynamic_batch_only", &options->dynamic_batch_only);
  reader.Bool("unbacked_batch_only", &options->unbacked_batch_only);
  reader.Word("ahead_of_time",
              {"export", "aot_inductor", "nativert", "torchscript", "aot_precompile"},
              &options->ahead_of_time);
  reader.Word("quantization",
              {"int8dynamic", "int8weightonly", "int4weightonly", "autoquant", "noquant"},
              &options->quantization);
  reader.TextMap("inductor_config", &options->inductor_config);
  reader.TextMap("dynamo_config", &options->dynamo_config);
  reader.TextMap("functorch_config", &options->functorch_config);
}

void Imply(CompileOptions* options) {
  if (options->dynamic_batch_only || options->unbacked_batch_only) options->dynamic_shapes = true;
}

absl::StatusOr<Configuration> ParseConfiguration(std::string_view text,
                                                 std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Configuration configuration;
  MapReader reader(root, "the configuration", file_name);
  reader.Text("name", &configuration.name, MapReader::kRequired);
  reader.Text("description", &configuration.description);
  reader.Text("upstream_name", &configuration.upstream_name);
  ReadWords(reader, "modes", {"inference", "training"}, &ParseMode, &configuration.modes);
  ReadWords(reader, "tests", {"performance", "accuracy"}, &ParseTest, &configuration.tests);
  if (const YamlNode* measure = reader.Take("measure")) {
    ReadMeasure(*measure, file_name, reader, &configuration);
  }
  if (const YamlNode* options = reader.Take("options", MapReader::kRequired)) {
    MapReader options_reader(*options, "options", file_name);
    ReadOptions(options_reader, &configuration.options);
    reader.Fail(options_reader.Finish());
    const std::string without_effect = OptionWithoutEffect(configuration.options);
    if (!without_effect.empty()) {
      reader.Fail(*options, absl::StrCat("options: \"", without_effect, "\" has no effect with ",
                                         WhatCompiles(configuration.options), "; remove it"));
    }
    const std::string contradiction = Contradiction(configuration.options);
    if (!contradiction.empty()) reader.Fail(*options, "options: " + contradiction);
  }
  reader.Fail(CheckName(configuration.name, root, file_name));
  if (configuration.name == "custom") {
    reader.Fail(root, "the name \"custom\" is kept for bare compiler flags; choose another");
  }
  RETURN_IF_ERROR(reader.Finish());
  Imply(&configuration.options);
  return configuration;
}

std::string OptionWithoutEffect(const CompileOptions& o) {
  if (!o.ahead_of_time.empty()) return WithoutEffectAheadOfTime(o);
  std::string option;
  if (o.backend == "nothing") option = FirstSet(DynamoOptions(o));
  if (option.empty() && (o.backend == "nothing" || o.backend == "eager") &&
      !o.functorch_config.empty()) {
    option = "functorch_config";
  }
  if (option.empty() && o.backend != "inductor") {
    option = FirstSet(InductorOptions(o));
    if (option.empty() && !o.quantization.empty()) option = "quantization";
  }
  return option;
}

std::string Contradiction(const CompileOptions& o) {
  if (o.dynamic_batch_only && o.unbacked_batch_only) {
    return "dynamic_batch_only and unbacked_batch_only exclude each other; give one of the two";
  }
  if (!o.ahead_of_time.empty() && o.backend != "inductor") {
    return absl::StrCat("ahead_of_time ", o.ahead_of_time, " does not go through the backend \"",
                        o.backend, "\" of torch.compile; remove one of the two");
  }
  if (!o.ahead_of_time.empty() && !o.quantization.empty()) {
    return "quantization is measured with torch.compile; remove it or ahead_of_time";
  }
  return "";
}

absl::StatusOr<LaunchProfile> ParseProfile(std::string_view text, std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  LaunchProfile profile;
  MapReader reader(root, "the profile", file_name);
  reader.Text("name", &profile.name, MapReader::kRequired);
  reader.Text("description", &profile.description);
  reader.TextMap("environment", &profile.environment);
  reader.TextList("preload", &profile.preload);
  reader.Word("numa", {"local"}, &profile.numa);
  reader.Integer("instances", 1, 256, &profile.instances);
  reader.Fail(CheckName(profile.name, root, file_name));
  for (const auto& [variable, value] : profile.environment) {
    if (variable.empty() || variable.find('=') != std::string::npos ||
        variable.find(' ') != std::string::npos) {
      reader.Fail(root, absl::StrCat("environment: \"", variable, "\" is no name of a variable"));
    }
    if (variable == "LD_PRELOAD") {
      reader.Fail(root, "environment: LD_PRELOAD is given as the list \"preload\"");
    }
  }
  RETURN_IF_ERROR(reader.Finish());
  return profile;
}

}  // namespace dynbench::plan

#include "common/plan/configuration.h"

#include <cctype>
#include <utility>

#include "common/base/status.h"
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
  reader.TextMap("inductor_config", &options->inductor_config);
  reader.TextMap("dynamo_config", &options->dynamo_config);
}

}  // namespace

absl::StatusOr<Configuration> ParseConfiguration(std::string_view text,
                                                 std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Configuration configuration;
  MapReader reader(root, "the configuration", file_name);
  reader.Text("name", &configuration.name, MapReader::kRequired);
  reader.Text("description", &configuration.description);
  if (const YamlNode* options = reader.Take("options", MapReader::kRequired)) {
    MapReader options_reader(*options, "options", file_name);
    ReadOptions(options_reader, &configuration.options);
    reader.Fail(options_reader.Finish());
    const std::string without_effect = OptionWithoutEffect(configuration.options);
    if (!without_effect.empty()) {
      reader.Fail(*options,
                  absl::StrCat("options: \"", without_effect, "\" has no effect with the ",
                               "backend \"", configuration.options.backend, "\"; remove it"));
    }
  }
  reader.Fail(CheckName(configuration.name, root, file_name));
  if (configuration.name == "custom") {
    reader.Fail(root, "the name \"custom\" is kept for bare compiler flags; choose another");
  }
  RETURN_IF_ERROR(reader.Finish());
  // As upstream: marking the batch dimension alone is a way of compiling dynamically.
  if (configuration.options.dynamic_batch_only) configuration.options.dynamic_shapes = true;
  return configuration;
}

std::string OptionWithoutEffect(const CompileOptions& options) {
  if (options.backend == "eager") {
    if (options.fullgraph) return "fullgraph";
    if (options.dynamic_batch_only) return "dynamic_batch_only";
    if (options.dynamic_shapes) return "dynamic_shapes";
    if (!options.dynamo_config.empty()) return "dynamo_config";
  }
  if (options.backend != "inductor") {
    if (!options.compile_mode.empty()) return "compile_mode";
    if (options.cudagraphs) return "cudagraphs";
    if (options.freezing) return "freezing";
    if (options.cpp_wrapper) return "cpp_wrapper";
    if (options.max_autotune) return "max_autotune";
    if (!options.inductor_config.empty()) return "inductor_config";
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

#include "worker/engine/program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plan/script_command.h"

namespace dynbench::worker {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

std::string Filled(std::string word,
                   const std::vector<std::pair<std::string, std::string>>& placeholders) {
  for (const auto& [name, value] : placeholders) {
    for (size_t at = word.find(name); at != std::string::npos;
         at = word.find(name, at + value.size())) {
      word.replace(at, name.size(), value);
    }
  }
  return word;
}

// What the slot may see: its own accelerator by a name that no renumbering changes, or none.
void AddDevice(const AttemptSpec& spec, Variables* variables) {
  if (spec.experiment.device == "cpu") {
    (*variables)["CUDA_VISIBLE_DEVICES"] = "";
  } else if (!spec.device_uuid.empty()) {
    (*variables)["CUDA_VISIBLE_DEVICES"] = spec.device_uuid;
  }
}

}  // namespace

Program MakeProgram(const AttemptSpec& spec, const Environment& environment,
                    const plan::LaunchProfile& profile, const std::vector<std::string>& preload,
                    const Variables& ours, const ProgramFolders& folders) {
  Program program;
  program.is_script = spec.experiment.engine == plan::kScriptEngine;
  // Upstream makes its other files' names by stripping the letters of ".csv" off the end: this stem
  // ends with none of them.
  program.output = spec.work_dir + "/upstream.csv";
  const std::vector<std::pair<std::string, std::string>> placeholders = {
      {"{python}", environment.facts.python},
      {"{output}", program.output},
      {"{work_dir}", spec.work_dir},
      {"{model_file}", spec.model_file},
      {"{device_index}", absl::StrCat(spec.device_index)}};
  for (const std::string& word : spec.experiment.command) {
    program.argv.push_back(Filled(word, placeholders));
  }
  program.variables = ChildEnvironment(ours, profile, preload, folders.tmp);
  // Only a fork of an initialised process needs this one.
  program.variables.erase("PYTORCH_NVML_BASED_CUDA_CHECK");
  for (const auto& [name, value] : spec.experiment.set_env) {
    if (plan::ProgramMaySet(name)) program.variables[name] = value;
  }
  program.variables["TORCHINDUCTOR_CACHE_DIR"] = folders.cache;
  program.variables["TRITON_CACHE_DIR"] = folders.cache + "/triton";
  std::string& path = program.variables["PATH"];
  path = absl::StrCat(FolderOf(environment.facts.python), ":", path);
  if (program.is_script) program.variables["PYTHONPATH"] = folders.support;
  AddDevice(spec, &program.variables);
  return program;
}

}  // namespace dynbench::worker

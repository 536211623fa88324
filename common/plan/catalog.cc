#include "common/plan/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/nearest.h"

namespace dynbench::plan {
namespace {

namespace fs = std::filesystem;

// The *.yaml files of a folder, by name. A missing folder has none.
std::vector<fs::path> YamlFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".yaml" && it->is_regular_file(error))
      files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Adds `value`, which must be named as its file is.
template <typename T>
absl::Status Add(const fs::path& file, T value, std::map<std::string, T>* all) {
  if (value.name != file.stem().string()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.string(), ": holds \"", value.name,
                     "\"; an installed file is named as what it holds, so rename one of the two"));
  }
  all->emplace(value.name, std::move(value));
  return absl::OkStatus();
}

template <typename T, typename Parse>
absl::Status LoadFolder(const fs::path& folder, Parse parse, std::map<std::string, T>* all) {
  for (const fs::path& file : YamlFiles(folder)) {
    ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file.string()));
    ASSIGN_OR_RETURN(T value, parse(text, file.string()));
    RETURN_IF_ERROR(Add(file, std::move(value), all));
  }
  return absl::OkStatus();
}

absl::Status LoadModelFiles(const fs::path& root, Catalog* catalog) {
  for (const auto& [name, suite] : catalog->suites) {
    for (const ModelRules& model : suite.models) {
      if (model.file.empty()) continue;
      const std::string path = (root / model.file).string();
      auto bytes = ReadTextFile(path);
      if (!bytes.ok()) {
        return Annotate(bytes.status(), absl::StrCat((root / (name + ".yaml")).string(), ":",
                                                     model.line, ": model \"", model.name, "\""));
      }
      InstalledFile& file = catalog->model_files[name][model.file];
      file.name = fs::path(model.file).filename().string();
      file.sha256 = Sha256Hex(*bytes);
      file.bytes = *std::move(bytes);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status CheckName(const std::map<std::string, T>& known, const std::string& name,
                       const std::string& what) {
  if (known.contains(name)) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& [key, value] : known) names.push_back(key);
  return absl::InvalidArgumentError(absl::StrCat("names the ", what, " \"", name,
                                                 "\", which is not installed",
                                                 DidYouMean(name, names), "; correct the name"));
}

absl::Status CheckPresets(const fs::path& root, const Catalog& catalog) {
  for (const auto& [name, preset] : catalog.presets) {
    const std::string file = (root / "presets" / (name + ".yaml")).string();
    for (const Request& request : preset.submissions) {
      absl::Status status = CheckName(catalog.suites, request.suite, "suite");
      status.Update(CheckName(catalog.profiles, request.profile, "profile"));
      for (const std::string& configuration : request.configurations) {
        status.Update(CheckName(catalog.configurations, configuration, "configuration"));
      }
      if (!status.ok()) return Annotate(status, file);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Catalog> LoadCatalog(const std::string& folder) {
  const fs::path root(folder);
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": no such folder; set DYNBENCH_SUITES to the folder with timm.yaml"));
  }
  Catalog catalog;
  RETURN_IF_ERROR(LoadFolder(root, ParseSuite, &catalog.suites));
  RETURN_IF_ERROR(LoadModelFiles(root, &catalog));
  RETURN_IF_ERROR(LoadFolder(root / "configurations", ParseConfiguration, &catalog.configurations));
  RETURN_IF_ERROR(LoadFolder(root / "profiles", ParseProfile, &catalog.profiles));
  RETURN_IF_ERROR(LoadFolder(root / "presets", ParsePreset, &catalog.presets));
  if (catalog.suites.empty() || !catalog.configurations.contains("default") ||
      !catalog.profiles.contains("default")) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": holds no suites (wanted: *.yaml, configurations/default.yaml, ",
                     "profiles/default.yaml); set DYNBENCH_SUITES to the installed folder"));
  }
  RETURN_IF_ERROR(CheckPresets(root, catalog));
  return catalog;
}

absl::StatusOr<std::string> FindSuitesFolder() {
  if (const char* variable = std::getenv("DYNBENCH_SUITES"); variable != nullptr && *variable) {
    std::error_code error;
    if (fs::is_directory(variable, error)) return std::string(variable);
    return absl::NotFoundError(absl::StrCat("DYNBENCH_SUITES names ", variable,
                                            ", which is no folder; correct or unset it"));
  }
  std::vector<fs::path> tried;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) tried.push_back(binary.parent_path().parent_path() / "share/dynbench/suites");
  tried.emplace_back(DYNBENCH_SOURCE_SUITES);
  std::string list;
  for (const fs::path& folder : tried) {
    if (fs::is_directory(folder, error)) return folder.string();
    list += (list.empty() ? "" : ", ") + folder.string();
  }
  return absl::NotFoundError(absl::StrCat("the installed suites are not found (tried ", list,
                                          "); set DYNBENCH_SUITES to the folder with timm.yaml"));
}

}  // namespace dynbench::plan

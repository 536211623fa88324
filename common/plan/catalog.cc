#include "common/plan/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/status.h"

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
  for (const auto& [name, suite] : catalog.suites) {
    if (suite.loader == "path") {
      return absl::InvalidArgumentError(absl::StrCat(
          (root / (name + ".yaml")).string(),
          ": the loader \"path\" is for a suite of your own, whose model files travel ",
          "with the job; move it elsewhere and submit it with --suite FILE.yaml"));
    }
  }
  RETURN_IF_ERROR(LoadFolder(root / "configurations", ParseConfiguration, &catalog.configurations));
  RETURN_IF_ERROR(LoadFolder(root / "profiles", ParseProfile, &catalog.profiles));
  if (catalog.suites.empty() || !catalog.configurations.contains("default") ||
      !catalog.profiles.contains("default")) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": holds no suites (wanted: *.yaml, configurations/default.yaml, ",
                     "profiles/default.yaml); set DYNBENCH_SUITES to the installed folder"));
  }
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

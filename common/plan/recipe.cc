#include "common/plan/recipe.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/yaml_reader.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan {
namespace {

using Json = nlohmann::json;

constexpr int kLongestBuildS = 24 * 3600;

constexpr const char* kVariables[] = {"CC",
                                      "CXX",
                                      "CFLAGS",
                                      "CXXFLAGS",
                                      "CPPFLAGS",
                                      "LDFLAGS",
                                      "MAX_JOBS",
                                      "CUDA_HOME",
                                      "ROCM_HOME",
                                      "MKLROOT",
                                      "HTTP_PROXY",
                                      "HTTPS_PROXY",
                                      "NO_PROXY",
                                      "http_proxy",
                                      "https_proxy",
                                      "no_proxy",
                                      "TORCH_CUDA_ARCH_LIST",
                                      "NINJAFLAGS"};
constexpr const char* kVariablePrefixes[] = {"USE_",    "BUILD_",   "CMAKE_",      "PYTORCH_",
                                             "CCACHE_", "SCCACHE_", "TORCH_BUILD_"};

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsCommit(const std::string& text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool IsVersion(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos &&
         std::count(text.begin(), text.end(), '.') >= 1 && text.front() != '.' &&
         text.back() != '.';
}

bool HasControl(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

// What holds whoever wrote it. Empty: nothing is wrong.
std::string WrongOf(const Recipe& r) {
  if (const absl::Status named = CheckEnvironmentName(r.name); !named.ok()) {
    return std::string(named.message());
  }
  if (!IsVersion(r.python) && (r.python.empty() || r.python[0] != '/')) {
    return absl::StrCat("\"python\" is \"", r.python,
                        "\"; write a version such as 3.11, or the absolute path of a python");
  }
  if (r.requirements.empty() && r.wheels.empty() && !r.git) {
    return "installs nothing; write \"requirements\", \"wheels\" or \"git\"";
  }
  for (const std::string& line : r.requirements) {
    if (line.empty() || HasControl(line)) return "\"requirements\" wants one line of pip an entry";
    if (line[0] == '-') {
      return absl::StrCat("\"requirements\": \"", line,
                          "\" is a flag; write \"index_url\" or \"find_links\" of the recipe");
    }
  }
  std::set<std::string> names;
  for (const RecipeWheel& wheel : r.wheels) {
    if (!absl::EndsWith(wheel.file, ".whl") || HasControl(wheel.file)) {
      return absl::StrCat("\"wheels\": \"", wheel.file, "\" is no .whl file");
    }
    if (!names.insert(BaseName(wheel.file)).second) {
      return absl::StrCat("\"wheels\": two are named ", BaseName(wheel.file));
    }
  }
  if (r.git) {
    if (r.git->url.empty() || r.git->url[0] == '-' || HasControl(r.git->url)) {
      return "git: \"url\" is no address";
    }
    if (!IsCommit(r.git->commit)) {
      return absl::StrCat("git: \"commit\" is \"", r.git->commit,
                          "\"; write all 40 digits: a branch or tag may be another thing tomorrow");
    }
    if (r.git->build.empty()) return "git: \"build\" is empty; write the command that installs it";
  }
  if (HasControl(r.index_url)) return "\"index_url\" is no address";
  for (const std::string& place : r.find_links) {
    if (place.empty() || HasControl(place)) return "\"find_links\" wants addresses or folders";
  }
  for (const auto& [name, value] : r.environment) {
    if (!IsBuildVariable(name)) {
      return absl::StrCat("environment: ", name,
                          " is no variable of a build; allowed are CC, CXX, CFLAGS, CXXFLAGS, "
                          "LDFLAGS, MAX_JOBS, CUDA_HOME, the proxies, and names that begin with "
                          "USE_, BUILD_, CMAKE_, PYTORCH_, CCACHE_");
    }
    if (value.find('\0') != std::string::npos) return "environment: a value has a zero byte";
  }
  return "";
}

Json ToJson(const Recipe& r, bool with_folders) {
  Json wheels = Json::array();
  for (const RecipeWheel& wheel : r.wheels) {
    wheels.push_back(
        {{"file", with_folders ? wheel.file : BaseName(wheel.file)}, {"sha256", wheel.sha256}});
  }
  Json git;
  if (r.git) git = {{"url", r.git->url}, {"commit", r.git->commit}, {"build", r.git->build}};
  return {{"schema", "dynbench.recipe/1"},
          {"name", r.name},
          {"python", r.python},
          {"requirements", r.requirements},
          {"wheels", wheels},
          {"git", git},
          {"index_url", r.index_url},
          {"find_links", r.find_links},
          {"environment", r.environment},
          {"timeout_s", r.timeout_s}};
}

}  // namespace

absl::Status CheckEnvironmentName(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 64 && name[0] != '.' &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
                    });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", name, "\" cannot name an environment: use letters, digits, '.', '_', '-', at most 64"));
}

bool IsBuildVariable(std::string_view name) {
  for (const char* known : kVariables) {
    if (name == known) return true;
  }
  for (const char* prefix : kVariablePrefixes) {
    if (name.substr(0, std::string_view(prefix).size()) == prefix) return true;
  }
  return false;
}

absl::StatusOr<Recipe> ParseRecipe(std::string_view text, std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Recipe recipe;
  MapReader reader(root, "the recipe", file_name);
  reader.Text("name", &recipe.name, MapReader::kRequired);
  reader.Text("python", &recipe.python, MapReader::kRequired);
  reader.TextList("requirements", &recipe.requirements);
  std::vector<std::string> wheels;
  reader.TextList("wheels", &wheels);
  for (std::string& file : wheels) recipe.wheels.push_back({std::move(file), ""});
  if (const YamlNode* node = reader.Take("git")) {
    MapReader git(*node, "the recipe: git", file_name);
    RecipeGit& to = recipe.git.emplace();
    git.Text("url", &to.url, MapReader::kRequired);
    git.Text("commit", &to.commit, MapReader::kRequired);
    git.Text("build", &to.build, MapReader::kRequired);
    reader.Fail(git.Finish());
  }
  reader.Text("index_url", &recipe.index_url);
  reader.TextList("find_links", &recipe.find_links);
  reader.TextMap("environment", &recipe.environment);
  reader.Integer("timeout", 1, kLongestBuildS, &recipe.timeout_s);
  RETURN_IF_ERROR(reader.Finish());
  const std::string wrong = WrongOf(recipe);
  // At the key that the message is about, where it names one.
  const YamlNode* at = &root;
  for (const YamlEntry& entry : root.entries) {
    const bool named = absl::StrContains(wrong, absl::StrCat("\"", entry.key, "\"")) ||
                       absl::StartsWith(wrong, absl::StrCat(entry.key, ": "));
    if (named || (entry.key == "name" && absl::StrContains(wrong, "cannot name"))) {
      at = &entry.value;
      break;
    }
  }
  if (!wrong.empty()) return YamlError(file_name, *at, absl::StrCat("the recipe: ", wrong));
  return recipe;
}

std::string RecipeToJson(const Recipe& recipe) { return ToJson(recipe, true).dump(); }

absl::StatusOr<Recipe> RecipeFromJson(std::string_view text) {
  Recipe r;
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != "dynbench.recipe/1") {
      return absl::InvalidArgumentError("not a recipe of this version");
    }
    r.name = json.at("name");
    r.python = json.at("python");
    r.requirements = json.at("requirements").get<std::vector<std::string>>();
    for (const Json& wheel : json.at("wheels")) {
      r.wheels.push_back({wheel.at("file"), wheel.at("sha256")});
    }
    if (const Json& git = json.at("git"); !git.is_null()) {
      r.git = {git.at("url"), git.at("commit"), git.at("build")};
    }
    r.index_url = json.at("index_url");
    r.find_links = json.at("find_links").get<std::vector<std::string>>();
    r.environment = json.at("environment").get<std::map<std::string, std::string>>();
    r.timeout_s = std::clamp(json.at("timeout_s").get<int>(), 1, kLongestBuildS);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not a recipe: ", error.what()));
  }
  if (const std::string wrong = WrongOf(r); !wrong.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the recipe: ", wrong));
  }
  for (const RecipeWheel& wheel : r.wheels) {
    if (!IsSha256Hex(wheel.sha256)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the recipe: the wheel ", wheel.file, " has no digest"));
    }
  }
  return r;
}

std::string RecipeId(const Recipe& recipe) { return Sha256Hex(ToJson(recipe, false).dump()); }

std::string DerivedId(std::string_view name, std::string_view base, std::string_view patch_sha256) {
  return Sha256Hex(Json{{"schema", "dynbench.derivation/1"},
                        {"name", std::string(name)},
                        {"base", std::string(base)},
                        {"patch", std::string(patch_sha256)}}
                       .dump());
}

}  // namespace dynbench::plan

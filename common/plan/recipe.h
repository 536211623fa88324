// Recipes: how an environment is made, as a person writes it (YAML) and as it is sent and stored
// (JSON). A recipe with the digests of its wheels says everything that decides what is built, so
// its hash is the id of the environment.
//
// Pure: the files that a recipe names are read by the caller.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::plan {

struct RecipeWheel {
  std::string file;    // as written: a path, relative to the recipe
  std::string sha256;  // of its bytes; filled in by whoever reads them
};

// Built from source: fetched at a commit, then `build` is run by a shell in its folder, with the
// environment's own python first in PATH.
struct RecipeGit {
  std::string url;
  std::string commit;  // 40 hexadecimal digits: a branch would be another thing tomorrow
  std::string build;
};

struct Recipe {
  std::string name;    // that the environment is registered under
  std::string python;  // the base interpreter: a path, or a version such as "3.11"
  std::vector<std::string> requirements;  // lines for pip, in order
  std::vector<RecipeWheel> wheels;
  std::optional<RecipeGit> git;
  std::string index_url;
  std::vector<std::string> find_links;
  std::map<std::string, std::string> environment;  // for the build
  int timeout_s = 3'600;                           // of each step of it
};

// InvalidArgument: file:line:column, the object, the rule, the fix.
absl::StatusOr<Recipe> ParseRecipe(std::string_view text, std::string_view file_name);

// Canonical: sorted keys, every field. Needs the digests of all wheels.
std::string RecipeToJson(const Recipe& recipe);
// The same rules as ParseRecipe's; digests are required.
absl::StatusOr<Recipe> RecipeFromJson(std::string_view text);
// SHA-256 of RecipeToJson, without the folders of the wheels: 64 hexadecimal digits.
std::string RecipeId(const Recipe& recipe);

// The id of an environment that is `base` with a patch: 64 hexadecimal digits. `base` is the id of
// the base, or its hash where it was registered by hand.
std::string DerivedId(std::string_view name, std::string_view base, std::string_view patch_sha256);

// Names become file names on workers: letters, digits, '.', '_' and '-', not first a '.', at
// most 64.
absl::Status CheckEnvironmentName(const std::string& name);

// Whether a build may be given this variable: those that steer compilers, PyTorch's build and pip's
// way to the network.
bool IsBuildVariable(std::string_view name);

}  // namespace dynbench::plan

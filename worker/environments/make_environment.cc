#include "worker/environments/make_environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/object_folder.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "worker/environments/assemble.h"
#include "worker/environments/check_folder.h"
#include "worker/environments/interpreter.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"
#include "worker/environments/patch_check.h"
#include "worker/environments/places.h"
#include "worker/environments/register.h"
#include "worker/environments/steps.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kToolLimitMs = 600'000;  // of patch and of a look at syntax

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// What a build gets of our own variables: nothing that could be a secret.
std::map<std::string, std::string> PlainVariables() {
  std::map<std::string, std::string> variables = {{"LANG", "C.UTF-8"},
                                                  {"PIP_NO_INPUT", "1"},
                                                  {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
                                                  {"GIT_TERMINAL_PROMPT", "0"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH",
                           "SSL_CERT_FILE", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY",
                           "HTTPS_PROXY", "NO_PROXY", "DYNBENCH_OWNER"}) {
    if (!Getenv(name).empty()) variables[name] = Getenv(name);
  }
  return variables;
}

Steps MakeSteps(const MakeOptions& options, const std::string& folder, int64_t limit_ms) {
  Steps::Options steps;
  steps.environment = PlainVariables();
  steps.working_dir = folder;
  steps.limit_ms = limit_ms;
  steps.sink = options.sink;
  return Steps(std::move(steps));
}

std::string FindProgram(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return "";
}

// Removes what is not finished, unless it was renamed.
class Unfinished {
 public:
  explicit Unfinished(std::string folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::remove_all(folder_, error);  // of one that was killed; the lock is ours
  }
  ~Unfinished() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const std::string& folder() const { return folder_; }
  absl::Status RenameTo(const std::string& final_folder) const {
    RETURN_IF_ERROR(SyncFileSystemOf(folder_));
    std::error_code error;
    fs::rename(folder_, final_folder, error);
    if (error) return absl::UnavailableError(absl::StrCat(final_folder, ": ", error.message()));
    return absl::OkStatus();
  }

 private:
  const std::string folder_;
};

// The environment's files become objects, and its manifest is kept. `prefix`: what the files that
// name their own place name.
absl::Status KeepManifest(const std::string& folder, const std::string& prefix,
                          const std::string& id, const Interpreter& interpreter, bool ours,
                          const MakeOptions& options, Steps& steps) {
  steps.Say("== hashing its files");
  ASSIGN_OR_RETURN(Manifest manifest, ScanFolder(folder));
  manifest.id = id;
  manifest.prefix = prefix;
  manifest.interpreter = interpreter.path;
  manifest.platform.python_version = interpreter.version;
  const ObjectStore store(options.environments_dir);
  for (const ManifestFile& file : manifest.files) {
    RETURN_IF_ERROR(store.Adopt(absl::StrCat(folder, "/", file.path), file, ours));
  }
  steps.Say(absl::StrCat(manifest.files.size(), " files, ", manifest.TotalBytes() >> 20, " MiB"));
  return SaveManifest(options.environments_dir, manifest);
}

// A name that was given by hand on this host stays with what it was given to.
absl::Status CheckNameIsFree(const MakeOptions& options, const std::string& name) {
  RETURN_IF_ERROR(CheckEnvironmentName(name));
  const auto known = LoadEnvironment(options.environments_dir, name);
  if (!known.ok() || !known->id.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the name ", name, " is of an environment that was registered by hand (", known->facts.python,
      "); choose another, or run: dynbench-worker env remove ", name));
}

absl::StatusOr<Environment> Register(Environment environment, const MakeOptions& options,
                                     Steps& steps) {
  environment.of_fleet = options.of_fleet;
  const std::string python = environment.prefix + "/bin/python";
  auto registered = RegisterEnvironment(options.environments_dir, std::move(environment), python,
                                        [&](const std::string& line) { steps.Say(line); });
  return registered;
}

// Of the same id, whole and registered: nothing is to be done.
bool IsRegistered(const MakeOptions& options, const std::string& name, const std::string& id,
                  Environment* environment) {
  auto known = LoadEnvironment(options.environments_dir, name);
  if (!known.ok() || known->id != id || !CheckUnchanged(*known).ok()) return false;
  if (options.with_manifest && access(ManifestPath(options.environments_dir, id).c_str(), R_OK)) {
    return false;
  }
  *environment = *std::move(known);
  return true;
}

// What a process that ended before it could register it has left, if it is whole. Somebody may have
// changed it since, and a removal may have been cut off.
bool IsMade(const MakeOptions& options, const std::string& prefix, const std::string& id,
            Steps& steps) {
  const auto manifest = LoadManifest(options.environments_dir, id);
  if (!manifest.ok() || manifest->id != id || access(prefix.c_str(), F_OK) != 0) return false;
  steps.Say(absl::StrCat("== looking at what is there: ", prefix));
  const absl::Status same = CheckFolder(*manifest, prefix, ObjectStore(options.environments_dir));
  if (!same.ok()) steps.Say(absl::StrCat("it is made again: ", std::string(same.message())));
  return same.ok();
}

// ---- build ----

// What comes is what the recipe's id stands for.
absl::Status CheckWheels(const plan::Recipe& recipe, const std::string& wheels_dir) {
  for (const plan::RecipeWheel& wheel : recipe.wheels) {
    const std::string path =
        absl::StrCat(wheels_dir, "/", fs::path(wheel.file).filename().string());
    ASSIGN_OR_RETURN(const std::string sha256, Sha256OfFile(path));
    if (sha256 == wheel.sha256) continue;
    return absl::DataLossError(absl::StrCat(path, " is another file than the recipe names"));
  }
  return absl::OkStatus();
}

absl::Status InstallPackages(const plan::Recipe& recipe, const std::string& wheels_dir,
                             const std::string& venv, Steps& steps) {
  if (recipe.requirements.empty() && recipe.wheels.empty()) return absl::OkStatus();
  std::vector<std::string> argv = {venv + "/bin/python", "-m", "pip", "install"};
  if (!recipe.index_url.empty()) argv.insert(argv.end(), {"--index-url", recipe.index_url});
  for (const std::string& place : recipe.find_links) {
    argv.insert(argv.end(), {"--find-links", place});
  }
  for (const std::string& line : recipe.requirements) argv.push_back(line);
  for (const plan::RecipeWheel& wheel : recipe.wheels) {
    argv.push_back(absl::StrCat(wheels_dir, "/", fs::path(wheel.file).filename().string()));
  }
  return steps.Run("installing packages", argv);
}

absl::Status FetchSource(const plan::RecipeGit& git, const std::string& folder, Steps& steps) {
  const std::string program = FindProgram("git");
  if (program.empty()) {
    return absl::FailedPreconditionError("this host has no git; install it (apt install git)");
  }
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  const auto run = [&](const std::string& what, std::vector<std::string> words) {
    words.insert(words.begin(), {program, "-c", "advice.detachedHead=false"});
    return steps.RunIn(folder, what, words);
  };
  RETURN_IF_ERROR(run("making a repository", {"init", "--quiet"}));
  // Not every server gives a commit by its name; then everything is fetched.
  if (!run("fetching the commit", {"fetch", "--quiet", "--depth", "1", git.url, git.commit}).ok()) {
    const absl::Status fetched =
        run("fetching everything", {"fetch", "--quiet", git.url, "+refs/*:refs/fetched/*"});
    if (!fetched.ok()) {
      return Annotate(fetched, absl::StrCat("git: the repository ", git.url, " (\"url\" of the ",
                                            "recipe) cannot be fetched on this host"));
    }
    if (!run("looking for the commit", {"cat-file", "-e", git.commit + "^{commit}"}).ok()) {
      return absl::NotFoundError(absl::StrCat(
          "git: the repository ", git.url, " has no commit ", git.commit,
          " on any branch or tag (\"commit\" of the recipe); push it there, or write another"));
    }
  }
  RETURN_IF_ERROR(run("checking out the commit", {"checkout", "--quiet", git.commit}));
  if (access((folder + "/.gitmodules").c_str(), R_OK) == 0) {
    RETURN_IF_ERROR(run("fetching submodules",
                        {"submodule", "update", "--init", "--recursive", "--depth", "1"}));
  }
  return absl::OkStatus();
}

absl::Status BuildSource(const plan::RecipeGit& git, const std::string& venv,
                         const std::string& folder, Steps& steps) {
  auto& variables = steps.environment();
  variables["VIRTUAL_ENV"] = venv;
  variables["PATH"] = absl::StrCat(venv, "/bin:", variables["PATH"]);
  return steps.RunIn(folder, "building", {"/bin/sh", "-ec", git.build});
}

absl::Status MakeVenv(const plan::Recipe& recipe, const std::string& wheels_dir,
                      const Interpreter& interpreter, const std::string& venv,
                      const std::string& scratch, Steps& steps) {
  const std::string source = scratch + "/source";
  // First: a commit that is not there is found before anything is installed.
  if (recipe.git) RETURN_IF_ERROR(FetchSource(*recipe.git, source, steps));
  RETURN_IF_ERROR(
      steps.Run("making a virtual environment", {interpreter.path, "-m", "venv", venv}));
  RETURN_IF_ERROR(InstallPackages(recipe, wheels_dir, venv, steps));
  if (recipe.git) RETURN_IF_ERROR(BuildSource(*recipe.git, venv, source, steps));
  return absl::OkStatus();
}

// ---- derive ----

// Hard links of everything, but copies of what names its own place; compiled files of the patched
// ones stay away, since they would be made again.
absl::Status LinkTree(const std::string& from, const std::string& to,
                      const std::set<std::string>& patched_stems) {
  std::error_code error;
  RETURN_IF_ERROR(MakePrivateFolder(to));
  auto it = fs::recursive_directory_iterator(from, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string path = it->path().string().substr(from.size() + 1);
    const std::string target = absl::StrCat(to, "/", path);
    const fs::file_status status = it->symlink_status();
    if (fs::is_symlink(status)) {
      fs::copy_symlink(it->path(), target, error);
    } else if (fs::is_directory(status)) {
      fs::create_directory(target, error);
    } else if (fs::is_regular_file(status)) {
      const fs::path name(path);
      const std::string stem =
          name.filename().string().substr(0, name.filename().string().find('.'));
      const std::string parent = name.parent_path().filename().string();
      if (parent == "__pycache__" &&
          patched_stems.count((name.parent_path().parent_path() / stem).string()) > 0) {
        continue;
      }
      RETURN_IF_ERROR(LinkOrCopy(it->path().string(), target));
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(from, ": ", error.message()));
  return absl::OkStatus();
}

absl::Status ApplyPatch(const PatchPlan& plan, const std::string& patch,
                        const std::string& site_packages, const std::string& python,
                        const std::string& scratch, Steps& steps) {
  for (const PatchedFile& file : plan.files) {
    const std::string path = absl::StrCat(site_packages, "/", file.path);
    const bool there = access(path.c_str(), F_OK) == 0;
    if (file.is_new && there) {
      return absl::InvalidArgumentError(
          absl::StrCat("the patch makes ", file.path, ", which the base has already"));
    }
    if (!file.is_new && !there) {
      return absl::InvalidArgumentError(
          absl::StrCat("the patch changes ", file.path, ", which is not in the base's ",
                       "site-packages; leave it out of the patch, or name files as they are "
                       "there (torch/…)"));
    }
    if (file.is_new) continue;
    // A new inode before anything writes.
    std::error_code error;
    const std::string beside = path + ".dynbench-new";
    fs::copy_file(path, beside, error);
    if (!error) fs::permissions(beside, fs::perms::owner_write, fs::perm_options::add, error);
    if (!error) fs::rename(beside, path, error);
    if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  }
  const std::string patch_file = scratch + "/changes.patch";
  RETURN_IF_ERROR(WriteFileDurably(patch_file, patch));
  const std::string program = FindProgram("patch");
  if (program.empty()) {
    return absl::FailedPreconditionError("this host has no patch; install it (apt install patch)");
  }
  const absl::Status applied =
      steps.RunIn(site_packages, "applying the patch",
                  {program, absl::StrCat("-p", plan.strip), "--fuzz=0", "--batch", "--forward",
                   "--no-backup-if-mismatch", "--reject-file=-", "-i", patch_file});
  if (absl::IsFailedPrecondition(applied)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the patch does not apply to the base: ", std::string(applied.message())));
  }
  RETURN_IF_ERROR(applied);
  std::vector<std::string> check = {python, "-c",
                                    "import sys\n"
                                    "for f in sys.argv[1:]:\n"
                                    "    compile(open(f, 'rb').read(), f, 'exec')\n"};
  for (const PatchedFile& file : plan.files) {
    check.push_back(absl::StrCat(site_packages, "/", file.path));
  }
  absl::Status compiles = steps.RunIn(scratch, "looking at its syntax", check);
  if (absl::IsFailedPrecondition(compiles)) {
    return absl::InvalidArgumentError(
        absl::StrCat("what the patch makes is no Python: ", std::string(compiles.message())));
  }
  return compiles;
}

std::vector<std::string> PathsBelow(const std::string& folder, const PatchPlan& plan) {
  std::vector<std::string> paths;
  for (const PatchedFile& file : plan.files) paths.push_back(absl::StrCat(folder, "/", file.path));
  return paths;
}

}  // namespace

absl::StatusOr<Environment> BuildEnvironment(const plan::Recipe& recipe,
                                             const std::string& wheels_dir,
                                             const MakeOptions& options) {
  RETURN_IF_ERROR(CheckNameIsFree(options, recipe.name));
  Environment environment;
  environment.name = recipe.name;
  environment.id = plan::RecipeId(recipe);
  const std::string& id = environment.id;
  ASSIGN_OR_RETURN(const UniqueFd lock, LockEnvironments(options.environments_dir, [&] {
                     options.sink("another environment is made on this host; waiting\n");
                   }));
  if (IsRegistered(options, recipe.name, id, &environment)) return environment;
  environment.prefix = FolderOfEnvironment(options.environments_dir, id);
  environment.origin_json = plan::RecipeToJson(recipe);
  const Unfinished scratch(absl::StrCat(UnfinishedFolder(options.environments_dir, id), "-files"));
  RETURN_IF_ERROR(MakePrivateFolder(scratch.folder()));
  Steps steps = MakeSteps(options, scratch.folder(), int64_t{1'000} * recipe.timeout_s);
  for (const auto& [name, value] : recipe.environment) steps.environment()[name] = value;
  steps.environment()["TMPDIR"] = scratch.folder();
  if (!IsMade(options, environment.prefix, id, steps)) {
    RETURN_IF_ERROR(CheckWheels(recipe, wheels_dir));
    ASSIGN_OR_RETURN(const Interpreter interpreter, FindInterpreter(recipe.python));
    const Unfinished made(UnfinishedFolder(options.environments_dir, id));
    RETURN_IF_ERROR(
        MakeVenv(recipe, wheels_dir, interpreter, made.folder(), scratch.folder(), steps));
    RETURN_IF_ERROR(RelocateFolder(made.folder(), made.folder(), environment.prefix));
    RETURN_IF_ERROR(
        KeepManifest(made.folder(), environment.prefix, id, interpreter, true, options, steps));
    std::error_code error;
    fs::remove_all(environment.prefix, error);
    RETURN_IF_ERROR(made.RenameTo(environment.prefix));
  }
  return Register(std::move(environment), options, steps);
}

absl::StatusOr<Environment> DeriveEnvironment(const std::string& base_name,
                                              const std::string& patch, const std::string& name,
                                              const MakeOptions& options) {
  ASSIGN_OR_RETURN(const PatchPlan plan, PlanPatch(patch));
  ASSIGN_OR_RETURN(const Environment base, LoadEnvironment(options.environments_dir, base_name));
  RETURN_IF_ERROR(CheckUnchanged(base));
  ASSIGN_OR_RETURN(const VenvPlace place, AskVenv(base.facts.python));
  const std::string sha256 = Sha256Hex(patch);
  Environment environment;
  environment.name = name.empty() ? absl::StrCat(base_name, "-", sha256.substr(0, 8)) : name;
  if (environment.name == base_name) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the derived environment would replace its base ", base_name, "; give another --name"));
  }
  RETURN_IF_ERROR(CheckNameIsFree(options, environment.name));
  environment.id = plan::DerivedId(environment.name, base.id.empty() ? base.hash : base.id, sha256);
  const std::string& id = environment.id;
  ASSIGN_OR_RETURN(const UniqueFd lock, LockEnvironments(options.environments_dir, [&] {
                     options.sink("another environment is made on this host; waiting\n");
                   }));
  if (IsRegistered(options, environment.name, id, &environment)) return environment;
  // As the base's python names them, below its prefix.
  if (place.site_packages.rfind(place.prefix + "/", 0) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("the packages of ", base_name, " are in ",
                                                      place.site_packages,
                                                      ", outside of its folder ", place.prefix));
  }
  const std::string site = place.site_packages.substr(place.prefix.size() + 1);
  std::vector<std::string> changed = PathsBelow(site, plan);
  for (const auto& [path, file] : base.changed_files) {
    if (std::find(changed.begin(), changed.end(), path) == changed.end()) changed.push_back(path);
  }
  std::sort(changed.begin(), changed.end());
  environment.prefix = FolderOfEnvironment(options.environments_dir, id);
  environment.origin_json = nlohmann::json{
      {"schema", "dynbench.derivation/1"},
      {"base", base_name},
      {"base_hash", base.hash},
      {"base_id", base.id},
      {"patch_sha256", sha256},
      {"changed_files",
       changed}}.dump();
  const Unfinished scratch(absl::StrCat(UnfinishedFolder(options.environments_dir, id), "-files"));
  RETURN_IF_ERROR(MakePrivateFolder(scratch.folder()));
  Steps steps = MakeSteps(options, scratch.folder(), kToolLimitMs);
  const Unfinished made(UnfinishedFolder(options.environments_dir, id));
  std::set<std::string> stems;
  for (const PatchedFile& file : plan.files) {
    stems.insert(absl::StrCat(site, "/", file.path.substr(0, file.path.size() - 3)));
  }
  steps.Say(absl::StrCat("== linking the files of ", place.prefix));
  RETURN_IF_ERROR(LinkTree(place.prefix, made.folder(), stems));
  RETURN_IF_ERROR(ApplyPatch(plan, patch, absl::StrCat(made.folder(), "/", site), base.facts.python,
                             scratch.folder(), steps));
  RETURN_IF_ERROR(RelocateFolder(made.folder(), place.prefix, environment.prefix));
  if (options.with_manifest) {
    RETURN_IF_ERROR(KeepManifest(made.folder(), environment.prefix, id,
                                 {place.interpreter, place.version}, false, options, steps));
  }
  std::error_code error;
  fs::remove_all(environment.prefix, error);
  RETURN_IF_ERROR(made.RenameTo(environment.prefix));
  ASSIGN_OR_RETURN(environment.changed_files, HashFiles(environment.prefix, changed));
  return Register(std::move(environment), options, steps);
}

absl::StatusOr<Environment> InstallEnvironment(const std::string& manifest_id,
                                               const std::string& name,
                                               const std::string& origin_json,
                                               const MakeOptions& options) {
  if (!IsSha256Hex(manifest_id)) return absl::InvalidArgumentError("no id of an environment");
  RETURN_IF_ERROR(CheckNameIsFree(options, name));
  Environment environment;
  environment.name = name;
  environment.id = manifest_id;
  ASSIGN_OR_RETURN(const UniqueFd lock, LockEnvironments(options.environments_dir, [&] {
                     options.sink("another environment is made on this host; waiting\n");
                   }));
  if (IsRegistered(options, name, manifest_id, &environment)) return environment;
  environment.prefix = FolderOfEnvironment(options.environments_dir, manifest_id);
  environment.origin_json = origin_json;
  ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(options.environments_dir, manifest_id));
  RETURN_IF_ERROR(CheckFits(manifest.platform));
  ASSIGN_OR_RETURN(const Interpreter interpreter,
                   FindSameInterpreter(manifest.interpreter, manifest.platform.python_version));
  Steps steps = MakeSteps(options, options.environments_dir, kToolLimitMs);
  steps.Say(absl::StrCat("== linking ", manifest.files.size(), " files"));
  const Unfinished made(UnfinishedFolder(options.environments_dir, manifest_id));
  const ObjectStore store(options.environments_dir);
  RETURN_IF_ERROR(Assemble(manifest, store, made.folder(), environment.prefix, interpreter.path));
  RETURN_IF_ERROR(CheckCode(manifest, made.folder(), store));
  std::error_code error;
  fs::remove_all(environment.prefix, error);
  RETURN_IF_ERROR(made.RenameTo(environment.prefix));
  const nlohmann::json origin = nlohmann::json::parse(origin_json, nullptr, false);
  if (origin.is_object() && origin.contains("changed_files")) {
    ASSIGN_OR_RETURN(
        environment.changed_files,
        HashFiles(environment.prefix, origin["changed_files"].get<std::vector<std::string>>()));
  }
  return Register(std::move(environment), options, steps);
}

}  // namespace dynbench::worker

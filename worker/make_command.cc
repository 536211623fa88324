#include "worker/make_command.h"

#include <cstdio>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/object_folder.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "nlohmann/json.hpp"
#include "worker/environments/collect.h"
#include "worker/environments/make_environment.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

void WriteLog(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fflush(stdout);
}

MakeOptions OptionsFor(const std::string& environments_dir, bool fleet) {
  MakeOptions options;
  std::error_code error;
  fs::create_directories(environments_dir, error);
  options.environments_dir = fs::weakly_canonical(environments_dir, error).string();
  if (error) options.environments_dir = environments_dir;
  options.sink = WriteLog;
  options.of_fleet = options.with_manifest = fleet;
  return options;
}

// A person's YAML with wheels beside it, or the JSON of an order.
absl::StatusOr<plan::Recipe> ReadRecipe(const std::string& path, std::string* wheels_dir) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  if (absl::EndsWith(path, ".json")) return plan::RecipeFromJson(text);
  ASSIGN_OR_RETURN(plan::Recipe recipe, plan::ParseRecipe(text, path));
  if (recipe.wheels.empty()) return recipe;
  const fs::path folder = fs::absolute(path).parent_path();
  *wheels_dir = (folder / fs::path(recipe.wheels.front().file).parent_path()).string();
  for (plan::RecipeWheel& wheel : recipe.wheels) {
    const fs::path file = folder / wheel.file;
    if (file.parent_path() != fs::path(*wheels_dir)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": the wheel ", wheel.file,
                                                     " is in another folder than the first; ",
                                                     "put them together"));
    }
    auto digest = Sha256OfFile(file.string());
    if (!digest.ok()) return Annotate(digest.status(), absl::StrCat(path, ": a wheel"));
    wheel.sha256 = *std::move(digest);
  }
  return recipe;
}

}  // namespace

MakeCommand::MakeCommand(CLI::App* env, const std::function<void(CLI::App*)>& add_folders) {
  build_ = env->add_subcommand("build", "Build an environment of a recipe and register it");
  build_->add_option("RECIPE", recipe_, "YAML; docs/environments.md")->required();
  build_->add_option("--wheels-dir", wheels_dir_)->group("");
  build_->add_flag("--of-fleet", fleet_)->group("");
  derive_ = env->add_subcommand(
      "derive", "Register a copy of an environment with changes of Python (hard links)");
  derive_->add_option("ENV", base_, "a registered environment, in a virtual environment")
      ->required();
  derive_->add_option("--patch", patch_, "unified diff of files below site-packages")->required();
  derive_->add_option("--name", name_, "its name (default: ENV-DIGITS)");
  derive_->add_flag("--of-fleet", fleet_)->group("");
  install_ = env->add_subcommand("install", "")->group("");
  install_->add_option("ID", id_)->required();
  install_->add_option("--name", name_)->required();
  install_->add_option("--origin", origin_)->required();
  gc_ = env->add_subcommand("gc", "Free what no registered environment needs");
  gc_->add_flag("--dry-run", dry_run_, "only say what would be removed");
  gc_->add_flag("--json", json_);
  for (CLI::App* verb : {build_, derive_, install_, gc_}) add_folders(verb);
}

bool MakeCommand::parsed() const {
  return build_->parsed() || derive_->parsed() || install_->parsed() || gc_->parsed();
}

absl::Status MakeCommand::Run(const std::string& environments_dir) {
  if (build_->parsed()) return Build(environments_dir);
  if (derive_->parsed()) return Derive(environments_dir);
  if (install_->parsed()) return Install(environments_dir);
  return Collect(environments_dir);
}

absl::Status MakeCommand::Build(const std::string& environments_dir) {
  std::string wheels_dir = wheels_dir_;
  ASSIGN_OR_RETURN(const plan::Recipe recipe, ReadRecipe(recipe_, &wheels_dir));
  return BuildEnvironment(recipe, wheels_dir, OptionsFor(environments_dir, fleet_)).status();
}

absl::Status MakeCommand::Derive(const std::string& environments_dir) {
  ASSIGN_OR_RETURN(const std::string patch, ReadWholeFile(patch_));
  return DeriveEnvironment(base_, patch, name_, OptionsFor(environments_dir, fleet_)).status();
}

absl::Status MakeCommand::Install(const std::string& environments_dir) {
  ASSIGN_OR_RETURN(const std::string origin, ReadWholeFile(origin_));
  return InstallEnvironment(id_, name_, origin, OptionsFor(environments_dir, /*fleet=*/true))
      .status();
}

absl::Status MakeCommand::Collect(const std::string& environments_dir) {
  ASSIGN_OR_RETURN(const Collected collected, CollectEnvironments(environments_dir, dry_run_));
  if (json_) {
    std::printf("%s\n", nlohmann::json{{"schema", "dynbench.environments_gc/1"},
                                       {"dry_run", dry_run_},
                                       {"removed", collected.folders},
                                       {"objects", collected.objects},
                                       {"object_bytes", collected.object_bytes},
                                       {"receiving", collected.receiving}}
                            .dump()
                            .c_str());
    return absl::OkStatus();
  }
  for (const std::string& path : collected.folders) {
    std::printf("%s %s\n", dry_run_ ? "would remove" : "removed", path.c_str());
  }
  if (collected.receiving) {
    std::printf(
        "objects stay: an environment is being received on this host; run it again after\n");
    return absl::OkStatus();
  }
  std::printf("%lld objects, %.1f MiB %s\n", static_cast<long long>(collected.objects),
              static_cast<double>(collected.object_bytes) / (1 << 20),
              dry_run_ ? "would be freed" : "freed");
  return absl::OkStatus();
}

}  // namespace dynbench::worker

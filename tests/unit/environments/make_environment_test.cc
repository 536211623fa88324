// Method: a real virtual environment with a locally made wheel is built, changed and built again,
// derived from, and installed in a second folder from its manifest and objects; each is registered
// for real (probe, runner). What fails must leave nothing registered.
#include "worker/environments/make_environment.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/unit/environments/fake_torch_wheel.h"
#include "worker/environments/collect.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"
#include "worker/environments/places.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

struct stat StatOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info;
}

std::string Output(const std::vector<std::string>& argv) {
  SpawnOptions options;
  options.argv = argv;
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  const auto result = RunCommand(options, 60'000);
  EXPECT_TRUE(result.ok() && result->exit.success()) << (result.ok() ? result->output : "");
  return result.ok() ? result->output : "";
}

// A blank in the path, as users have.
class MakeEnvironment : public testing::Test {
 protected:
  MakeEnvironment() {
    options_.environments_dir = wheel_.folder() + "/first host";
    options_.sink = [this](std::string_view bytes) { log_.append(bytes); };
    options_.with_manifest = true;
  }

  std::string SiteOf(const Environment& environment) {
    return fs::path(environment.facts.torch_dir).parent_path().string();
  }

  FakeTorchWheel wheel_;
  MakeOptions options_;
  std::string log_;
};

const char kPatch[] =
    "--- a/torch/compiler.py\n+++ b/torch/compiler.py\n@@ -1,2 +1,2 @@\n FAST = 1\n-SLOW = 2\n"
    "+SLOW = 3\n--- /dev/null\n+++ b/torch/new.py\n@@ -0,0 +1 @@\n+NEW = 1\n";

TEST_F(MakeEnvironment, BuiltDerivedInstalledElsewhereAndCollected) {
  if (wheel_.Python().empty()) GTEST_SKIP() << "no python";
  const plan::Recipe recipe = wheel_.MakeRecipe("1.0");
  auto built = BuildEnvironment(recipe, wheel_.folder(), options_);
  if (absl::StrContains(built.status().message(), "no shared library") ||
      absl::StrContains(built.status().message(), "no Python.h")) {
    GTEST_SKIP() << built.status();
  }
  ASSERT_TRUE(built.ok()) << built.status() << log_;
  EXPECT_EQ(built->id, plan::RecipeId(recipe));
  EXPECT_EQ(built->prefix, FolderOfEnvironment(options_.environments_dir, built->id));
  EXPECT_EQ(built->facts.torch_version, "1.0");
  // Nothing names the folder in which it was made, and its scripts run.
  EXPECT_FALSE(absl::StrContains(ReadText(built->prefix + "/bin/tool"), ".making"));
  EXPECT_FALSE(absl::StrContains(ReadText(built->prefix + "/pyvenv.cfg"), ".making"));
  EXPECT_TRUE(absl::StrContains(Output({built->prefix + "/bin/pip", "--version"}), "pip"));
  // Again: what is there.
  log_.clear();
  const auto again = BuildEnvironment(recipe, wheel_.folder(), options_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(log_, "");

  // Whole but not registered, as a kill leaves it: taken.
  ASSERT_TRUE(RemoveEnvironment(options_.environments_dir, "made").ok());
  ASSERT_TRUE(BuildEnvironment(recipe, wheel_.folder(), options_).ok()) << log_;
  EXPECT_FALSE(absl::StrContains(log_, "installing packages")) << log_;
  // Written into (the object is the same inode), and half of it removed: made again.
  const std::string version = SiteOf(*built) + "/torch/version.py", before = ReadText(version);
  fs::permissions(version, fs::perms::owner_write, fs::perm_options::add);
  WriteText(version, std::string(before.size(), '#'));
  fs::remove_all(SiteOf(*built) + "/pip");
  ASSERT_FALSE(CheckUnchanged(*built).ok());
  log_.clear();
  built = BuildEnvironment(recipe, wheel_.folder(), options_);
  ASSERT_TRUE(built.ok()) << built.status() << log_;
  EXPECT_TRUE(absl::StrContains(log_, "it is made again")) << log_;
  EXPECT_EQ(ReadText(version), before);
  EXPECT_TRUE(fs::exists(SiteOf(*built) + "/pip/__init__.py"));
  EXPECT_EQ(built->hash, again->hash);

  const auto derived = DeriveEnvironment("made", kPatch, "", options_);
  ASSERT_TRUE(derived.ok()) << derived.status() << log_;
  EXPECT_TRUE(absl::StartsWith(derived->name, "made-"));
  EXPECT_NE(derived->hash, built->hash);
  EXPECT_EQ(ReadText(SiteOf(*built) + "/torch/compiler.py"), "FAST = 1\nSLOW = 2\n");
  EXPECT_EQ(ReadText(SiteOf(*derived) + "/torch/compiler.py"), "FAST = 1\nSLOW = 3\n");
  EXPECT_EQ(ReadText(SiteOf(*derived) + "/torch/new.py"), "NEW = 1\n");
  EXPECT_EQ(StatOf(SiteOf(*built) + "/torch/lib/libtorch.so").st_ino,
            StatOf(SiteOf(*derived) + "/torch/lib/libtorch.so").st_ino);
  // The same binary, each beside its own torch.
  EXPECT_NE(derived->runner_dir, built->runner_dir);
  EXPECT_EQ(StatOf(built->RunnerPath()).st_ino, StatOf(derived->RunnerPath()).st_ino);
  EXPECT_EQ(fs::read_symlink(derived->runner_dir + "/torch_lib"),
            derived->facts.torch_dir + "/lib");

  // The other host has the objects (as if they were sent) and the manifest.
  MakeOptions other = options_;
  other.environments_dir = wheel_.folder() + "/second";
  const auto manifest = LoadManifest(options_.environments_dir, derived->id);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  ASSERT_TRUE(SaveManifest(other.environments_dir, *manifest).ok());
  const ObjectStore there(other.environments_dir), here(options_.environments_dir);
  EXPECT_FALSE(InstallEnvironment(derived->id, "copy", derived->origin_json, other).ok());
  EXPECT_FALSE(LoadEnvironment(other.environments_dir, "copy").ok());
  for (const ManifestFile& file : manifest->files) {
    if (file.size_bytes == 0) continue;
    ASSERT_TRUE(here.LinkTo(file, wheel_.folder() + "/sent").ok()) << file.path;
    ASSERT_TRUE(there.folder().Put(file.sha256, ReadText(wheel_.folder() + "/sent")).ok());
    fs::remove(wheel_.folder() + "/sent");
  }
  // A library that has other bytes of the same size.
  const auto library = std::find_if(
      manifest->files.begin(), manifest->files.end(),
      [](const ManifestFile& f) { return absl::EndsWith(f.path, "torch/lib/libtorch_cpu.so"); });
  ASSERT_NE(library, manifest->files.end());
  const std::string object = there.folder().PathOf(library->sha256), bytes = ReadText(object);
  fs::rename(object, object + ObjectStore::Variant(library->executable));
  fs::permissions(object + ObjectStore::Variant(library->executable), fs::perms::owner_all);
  WriteText(object + ObjectStore::Variant(library->executable), std::string(bytes.size(), '\0'));
  const auto damaged = InstallEnvironment(derived->id, "copy", derived->origin_json, other);
  EXPECT_TRUE(absl::IsDataLoss(damaged.status())) << damaged.status();
  EXPECT_TRUE(absl::StrContains(damaged.status().message(), "torch/lib/")) << damaged.status();
  EXPECT_TRUE(LoadEnvironments(other.environments_dir, nullptr).empty());
  EXPECT_FALSE(there.Has(library->sha256)) << "it has to come again";
  ASSERT_TRUE(there.folder().Put(library->sha256, bytes).ok());

  const auto installed = InstallEnvironment(derived->id, "copy", derived->origin_json, other);
  ASSERT_TRUE(installed.ok()) << installed.status() << log_;
  EXPECT_EQ(installed->hash, derived->hash);
  EXPECT_EQ(ReadText(SiteOf(*installed) + "/torch/compiler.py"), "FAST = 1\nSLOW = 3\n");
  const std::string script = ReadText(installed->prefix + "/bin/tool");
  EXPECT_TRUE(absl::StrContains(script, installed->prefix)) << script;
  EXPECT_FALSE(absl::StrContains(script, "first host")) << script;
  EXPECT_TRUE(CheckUnchanged(*installed).ok());

  // A patched file that is changed afterwards is noticed.
  fs::permissions(SiteOf(*installed) + "/torch/new.py", fs::perms::owner_write,
                  fs::perm_options::add);
  WriteText(SiteOf(*installed) + "/torch/new.py", "NEW = 22\n");
  EXPECT_TRUE(absl::StrContains(CheckFilesUnchanged(*installed).message(), "torch/new.py"));

  // Collecting keeps what is registered.
  ASSERT_TRUE(RemoveEnvironment(options_.environments_dir, "made").ok());
  const auto would = CollectEnvironments(options_.environments_dir, /*dry_run=*/true);
  ASSERT_TRUE(would.ok()) << would.status();
  EXPECT_EQ(would->folders.size(), 2u);  // the folder and the manifest
  EXPECT_TRUE(fs::exists(built->prefix));
  const auto collected = CollectEnvironments(options_.environments_dir, /*dry_run=*/false);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_FALSE(fs::exists(built->prefix));
  EXPECT_GT(collected->objects, 0);
  EXPECT_TRUE(CheckUnchanged(*derived).ok());
}

TEST_F(MakeEnvironment, BuiltFromACommitOfARepository) {
  const std::string git = "/usr/bin/git";
  if (wheel_.Python().empty() || !fs::exists(git)) GTEST_SKIP() << "no python, or no git";
  const std::string source = wheel_.folder() + "/the source";
  fs::create_directories(source);
  const auto commit = [&](const std::string& value) {
    // Installs with the environment's python and its variables, as a real build does.
    WriteText(source + "/install.py",
              "import os, sysconfig\n"
              "assert os.environ['BUILD_TINY'] == 'yes'\n"
              "with open(sysconfig.get_paths()['purelib'] + '/tiny.py', 'w') as out:\n"
              "    out.write('VALUE = " +
                  value + "\\n')\n");
    Output({git, "-C", source, "add", "."});
    Output({git, "-C", source, "-c", "user.name=test", "-c", "user.email=test@example.org",
            "commit", "--quiet", "-m", value});
    return Output({git, "-C", source, "rev-parse", "HEAD"}).substr(0, 40);
  };
  Output({git, "init", "--quiet", "--initial-branch=main", source});
  const std::string first = commit("1");
  commit("2");  // the branch has moved on

  plan::Recipe recipe = wheel_.MakeRecipe("1.0");
  recipe.environment = {{"BUILD_TINY", "yes"}};
  recipe.git = {source, first, "python install.py"};
  const auto built = BuildEnvironment(recipe, wheel_.folder(), options_);
  if (absl::StrContains(built.status().message(), "no shared library") ||
      absl::StrContains(built.status().message(), "no Python.h")) {
    GTEST_SKIP() << built.status();
  }
  ASSERT_TRUE(built.ok()) << built.status() << log_;
  EXPECT_EQ(ReadText(SiteOf(*built) + "/tiny.py"), "VALUE = 1\n");
  EXPECT_EQ(Output({built->facts.python, "-c", "import tiny; print(tiny.VALUE)"}), "1\n");

  // Nothing is registered when the commit is not there.
  const std::string nowhere(40, '9');
  recipe.name = "absent";
  recipe.wheels.clear();
  recipe.git = {"file://" + source, nowhere, "true"};
  const auto absent = BuildEnvironment(recipe, wheel_.folder(), options_);
  EXPECT_TRUE(absl::StrContains(absent.status().message(), "has no commit " + nowhere)) << log_;
  EXPECT_TRUE(absl::StrContains(absent.status().message(), "\"commit\" of the recipe"));
  EXPECT_FALSE(LoadEnvironment(options_.environments_dir, "absent").ok());
}

TEST_F(MakeEnvironment, WhatFailsRegistersNothingAndSaysWhy) {
  if (wheel_.Python().empty()) GTEST_SKIP() << "no python";
  plan::Recipe recipe = wheel_.MakeRecipe("1.0");
  recipe.python = "3.1";
  EXPECT_TRUE(absl::StrContains(
      BuildEnvironment(recipe, wheel_.folder(), options_).status().message(), "no python 3.1"));
  recipe.wheels[0].sha256 = std::string(64, '0');
  EXPECT_EQ(BuildEnvironment(recipe, wheel_.folder(), options_).status().code(),
            absl::StatusCode::kDataLoss);
  recipe.wheels[0].file = "missing-1.0-py3-none-any.whl";
  EXPECT_TRUE(absl::StrContains(
      BuildEnvironment(recipe, wheel_.folder(), options_).status().message(), "missing-1.0"));
  EXPECT_TRUE(LoadEnvironments(options_.environments_dir, nullptr).empty());
  for (const auto& entry : fs::directory_iterator(options_.environments_dir)) {
    EXPECT_FALSE(absl::StartsWith(entry.path().filename().string(), ".making")) << entry.path();
  }
  EXPECT_EQ(DeriveEnvironment("made", kPatch, "", options_).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dynbench::worker

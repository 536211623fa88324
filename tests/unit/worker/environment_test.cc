// Method: the system's python (which has no torch) and made-up torch folders; the runner is built
// from a tiny source tree against libraries that this test compiles itself.
#include "worker/host/environment.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/host/environment_probe.h"
#include "worker/host/runner_build.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

TEST(EnvironmentProbe, APythonWithoutTorchIsRefusedWithTheNextStep) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no system python";
  const auto facts = ProbeEnvironment("/usr/bin/python3");
  if (facts.ok()) GTEST_SKIP() << "this system's python has torch";
  EXPECT_EQ(facts.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(facts.status().message(), "/usr/bin/python3"));
  EXPECT_TRUE(absl::StrContains(facts.status().message(), "pip install torch")) << facts.status();
}

TEST(EnvironmentProbe, WhatIsNoPythonIsSaidToBeNone) {
  EXPECT_TRUE(absl::StrContains(ProbeEnvironment("/no/such").status().message(), "no program"));
  EXPECT_TRUE(
      absl::StrContains(ProbeEnvironment("/bin/false").status().message(), "did not answer"));
}

// A torch folder whose libraries are real (empty) ones, and a runner that only prints.
class FakeTorch {
 public:
  FakeTorch() {
    fs::create_directories(dir_ / "torch/lib");
    fs::create_directories(dir_ / "src/worker/runner/shims");
    WriteText(dir_ / "empty.c", "");
    for (const char* name :
         {"torch/lib/libtorch.so", "torch/lib/libtorch_cpu.so", "torch/lib/libc10.so",
          "torch/lib/libtorch_python.so", "libpython9.so"}) {
      SpawnOptions compile;
      compile.argv = {"/usr/bin/cc", "-shared", "-fPIC", dir_ / "empty.c", "-o", dir_ / name};
      compile.environment = {{"PATH", "/usr/bin:/bin"}};
      const auto result = RunCommand(compile, 60'000);
      EXPECT_TRUE(result.ok() && result->exit.success()) << name;
    }
    WriteText(dir_ / "torch/version.py", "git_version = 'abc'");
    WriteText(dir_ / "src/worker/runner/sources.txt", "# comment\nworker/runner/main.cc\n");
    WriteText(dir_ / "src/worker/runner/main.cc",
              "#include \"worker/runner/what.h\"\nint main() { return kCode; }\n");
    WriteText(dir_ / "src/worker/runner/what.h", "constexpr int kCode = 0;\n");
    WriteText(dir_ / "src/worker/runner/shims/timm_loader.py", "pass\n");
    environment.name = "fake";
    environment.facts.python = "/usr/bin/python3";
    environment.facts.torch_dir = dir_ / "torch";
    environment.facts.python_library_dir = dir_.path();
    environment.facts.python_library = "python9";
    environment.facts.python_include_dir = dir_.path();
    Rehash();
    options.environments_dir = dir_ / "environments";
  }
  void Rehash() {
    auto files = HashTorchFiles(environment.facts.torch_dir, environment.files);
    ASSERT_TRUE(files.ok()) << files.status();
    environment.files = *files;
    environment.hash = EnvironmentHash(environment.files);
  }
  absl::StatusOr<std::string> Build() {
    auto sources = LoadRunnerSources(dir_ / "src");
    if (!sources.ok()) return sources.status();
    return BuildRunner(environment, *sources, options);
  }

  ScratchDir dir_;
  Environment environment;
  RunnerBuildOptions options;
};

TEST(Environment, TheHashFollowsTheContentAndAChangeUnderTheRecordIsNoticed) {
  FakeTorch fake;
  const std::string hash = fake.environment.hash;
  auto built = fake.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  fake.environment.runner_dir = *built;
  EXPECT_TRUE(CheckUnchanged(fake.environment).ok());
  WriteText(fake.dir_ / "torch/version.py", "git_version = 'abcd'");
  const absl::Status changed = CheckUnchanged(fake.environment);
  EXPECT_TRUE(absl::StrContains(changed.message(), "env add fake")) << changed;
  fake.Rehash();
  EXPECT_NE(fake.environment.hash, hash);
  fs::remove(fake.dir_ / "torch/lib/libtorch_cpu.so");
  EXPECT_FALSE(HashTorchFiles(fake.dir_ / "torch", {}).ok());
}

TEST(Environment, RecordsRoundTripAndUnreadableOnesDoNotHideTheOthers) {
  FakeTorch fake;
  fake.environment.facts.capabilities = {"aot_inductor", "triton"};
  const std::string folder = fake.dir_ / "environments";
  ASSERT_TRUE(SaveEnvironment(folder, fake.environment).ok());
  WriteText(folder + "/broken.json", "{\"schema\":");
  std::vector<std::string> problems;
  const auto loaded = LoadEnvironments(folder, &problems);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(ToJson(loaded.at("fake")), ToJson(fake.environment));
  EXPECT_EQ(loaded.at("fake").facts.capabilities, fake.environment.facts.capabilities);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(absl::StrContains(problems[0], "broken.json"));
  EXPECT_TRUE(absl::StrContains(RemoveEnvironment(folder, "fakes").message(), "there are: fake"));
  EXPECT_TRUE(RemoveEnvironment(folder, "fake").ok());
  EXPECT_FALSE(CheckEnvironmentName("../up").ok());
}

TEST(RunnerBuild, TwoAtOnceBuildOnceAndAChangedSourceBuildsAgain) {
  FakeTorch fake;
  std::atomic<int> compilations{0};
  fake.options.progress = [&](const std::string& text) {
    compilations += absl::StartsWith(text, "compiling");
  };
  absl::StatusOr<std::string> one, two;
  std::thread first([&] { one = fake.Build(); });
  std::thread second([&] { two = fake.Build(); });
  first.join();
  second.join();
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(*one, *two);
  EXPECT_EQ(compilations, 1);
  EXPECT_EQ(access((*one + "/dynbench-runner").c_str(), X_OK), 0);
  EXPECT_EQ(ReadText(*one + "/shims/timm_loader.py"), "pass\n");
  // A header counts though it is not listed.
  WriteText(fake.dir_ / "src/worker/runner/what.h", "constexpr int kCode = 1;\n");
  const auto changed = fake.Build();
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_NE(*changed, *one);
  EXPECT_EQ(compilations, 2);
}

TEST(RunnerBuild, AnErrorShowsTheCompilersWordsAndKeepsTheLog) {
  FakeTorch fake;
  WriteText(fake.dir_ / "src/worker/runner/main.cc", "int main() { return missing; }\n");
  const auto built = fake.Build();
  ASSERT_FALSE(built.ok());
  const std::string text(built.status().message());
  EXPECT_TRUE(absl::StrContains(text, "missing")) << text;
  const size_t at = text.rfind("the whole log: ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_TRUE(absl::StrContains(ReadText(text.substr(at + 15)), "missing"));
}

}  // namespace
}  // namespace dynbench::worker

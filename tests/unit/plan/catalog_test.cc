// Method: the installed folder, then folders of the test's own with one thing wrong in each.
#include "common/plan/catalog.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;

// A folder of installed files, removed at the end.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "/catalog.XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
    Write("timm.yaml", "name: timm\nmodels: [{name: a, batch_size: 1}]\n");
    Write("configurations/default.yaml", "name: default\noptions: {backend: inductor}\n");
    Write("profiles/default.yaml", "name: default\n");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void Remove(const std::string& name) {
    std::filesystem::remove(std::filesystem::path(path_) / name);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(LoadCatalog, TheInstalledFilesAreAllGood) {
  const Catalog& catalog = Installed();
  for (const char* name : {"timm", "huggingface", "torchbench", "compile-claims"}) {
    EXPECT_TRUE(catalog.suites.contains(name)) << name;
  }
  for (const char* name : {"first-row", "dashboard-nightly", "dashboard-weekly", "cpu-nightly"}) {
    EXPECT_TRUE(catalog.presets.contains(name)) << name;
  }
  EXPECT_FALSE(catalog.configurations.at("default").options.cudagraphs);
  EXPECT_TRUE(catalog.configurations.at("cudagraphs").options.cudagraphs);
  EXPECT_TRUE(catalog.configurations.at("dynamic").options.dynamic_shapes);
  EXPECT_TRUE(catalog.profiles.contains("single-thread"));
  EXPECT_EQ(catalog.profiles.at("steady-heap").environment.at("MALLOC_MMAP_MAX_"), "0");
  EXPECT_EQ(catalog.profiles.at("single-thread").environment.at("OMP_NUM_THREADS"), "1");
  EXPECT_THAT(catalog.profiles.at("cpu-upstream").preload,
              testing::ElementsAre("libjemalloc.so.2", "libiomp5.so"));
  EXPECT_EQ(catalog.profiles.at("numa-local").numa, "local");
}

// The rows of the dashboard's table (upstream.md 5.1), by the name in upstream's file names.
TEST(LoadCatalog, EveryRowOfTheDashboardIsAConfiguration) {
  std::map<std::string, std::string> rows;
  for (const auto& [name, configuration] : Installed().configurations) {
    if (!configuration.upstream_name.empty()) rows[configuration.upstream_name] = name;
  }
  const std::map<std::string, std::string> wanted = {
      {"inductor_no_cudagraphs", "default"},
      {"inductor_with_cudagraphs", "cudagraphs"},
      {"inductor_dynamic", "dynamic"},
      {"inductor_cpp_wrapper", "cpp_wrapper"},
      {"inductor_with_cudagraphs_freezing", "freezing_cudagraphs"},
      {"inductor_with_cudagraphs_freezing_autotune", "freezing_autotune_cudagraphs"},
      {"inductor_export", "export"},
      {"inductor_aot_inductor", "aot_inductor"},
      {"inductor_max_autotune", "max_autotune"},
      {"inductor_deterministic_perf", "deterministic_perf"},
      {"inductor_batch_invariant_accuracy", "batch_invariant_accuracy"},
  };
  EXPECT_EQ(rows, wanted);
}

TEST(LoadCatalog, ModelFilesOfInstalledSuitesArePlannedByTheirContent) {
  Request request;
  request.suite = "compile-claims";
  request.models = {"resnet50_batch1", "resnet50_batch64"};
  request.tests = {plan::Test::kPerformance};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->experiments.size(), 2u);
  const InstalledFile& file = Installed().model_files.at("compile-claims").at("models/resnet50.py");
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.source, (ModelSource{"path", "ResNet50", file.sha256, "resnet50.py", {}}));
  }
  EXPECT_EQ(plan->experiments[0].batch_size, 64);
  EXPECT_EQ(plan->experiments[1].batch_size, 1);
  EXPECT_THAT(file.bytes, HasSubstr("class ResNet50"));
}

TEST(LoadCatalog, OneBadFileFailsTheLoadWithItsOwnError) {
  struct Case {
    const char* file;
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {"bad.yaml", "name: bad\nmodel: 1\n", "bad.yaml:2:1: the suite: unknown key \"model\""},
      {"other.yaml", "name: misnamed\nmodels: [{name: a, batch_size: 1}]\n",
       "other.yaml: holds \"misnamed\""},
      {"mine.yaml", "name: mine\nloader: path\nmodels: [{name: a, file: a.py, class: A}]\n",
       "mine.yaml:3: model \"a\": "},
      {"presets/x.yaml", "name: x\nsubmissions: [{suite: tim}]\n",
       "presets/x.yaml: names the suite \"tim\", which is not installed (did you mean \"timm\"?)"},
      {"presets/x.yaml", "name: x\nsubmissions: [{suite: timm, configurations: [defualt]}]\n",
       "names the configuration \"defualt\""},
      {"configurations/x.yaml", "name: x\noptions: {}\n",
       "x.yaml:2:10: options: the key \"backend\""},
      {"profiles/x.yaml", "name: x\nenviron: {}\n", "did you mean \"environment\"?"},
  };
  for (const Case& c : cases) {
    Folder folder;
    ASSERT_TRUE(LoadCatalog(folder.path()).ok());
    folder.Write(c.file, c.text);
    EXPECT_THAT(ErrorOf(LoadCatalog(folder.path()).status()), HasSubstr(c.says));
  }
}

TEST(LoadCatalog, AFolderWithoutSuitesIsNotFound) {
  Folder folder;
  folder.Remove("configurations/default.yaml");
  EXPECT_EQ(LoadCatalog(folder.path()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf(LoadCatalog("/nonexistent").status()), HasSubstr("set DYNBENCH_SUITES"));
}

TEST(FindSuitesFolder, PrefersTheVariableAndFindsTheSourceTree) {
  Folder folder;
  ASSERT_EQ(setenv("DYNBENCH_SUITES", folder.path().c_str(), 1), 0);
  EXPECT_EQ(*FindSuitesFolder(), folder.path());
  ASSERT_EQ(setenv("DYNBENCH_SUITES", "/nonexistent", 1), 0);
  EXPECT_THAT(ErrorOf(FindSuitesFolder().status()),
              HasSubstr("DYNBENCH_SUITES names /nonexistent"));
  ASSERT_EQ(unsetenv("DYNBENCH_SUITES"), 0);
  EXPECT_EQ(*FindSuitesFolder(), DYNBENCH_SOURCE_SUITES);
}

}  // namespace
}  // namespace dynbench::plan

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
  EXPECT_TRUE(catalog.suites.contains("timm"));
  for (const char* name :
       {"default", "cudagraphs", "dynamic", "cpp_wrapper", "freezing", "max_autotune", "eager"}) {
    EXPECT_TRUE(catalog.configurations.contains(name)) << name;
  }
  EXPECT_FALSE(catalog.configurations.at("default").options.cudagraphs);
  EXPECT_TRUE(catalog.configurations.at("cudagraphs").options.cudagraphs);
  EXPECT_TRUE(catalog.configurations.at("dynamic").options.dynamic_shapes);
  EXPECT_TRUE(catalog.profiles.contains("single-thread"));
  EXPECT_EQ(catalog.profiles.at("single-thread").environment.at("OMP_NUM_THREADS"), "1");
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
       "submit it with --suite FILE.yaml"},
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

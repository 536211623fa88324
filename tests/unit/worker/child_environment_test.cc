// Method: the pure function is given a worker's environment with secrets in it.
#include "worker/engine/child_environment.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

TEST(ChildEnvironment, OnlyWhatIsAllowedPasses) {
  const Variables ours = {{"PATH", "/bin"},
                          {"HOME", "/home/u"},
                          {"LC_ALL", "C.UTF-8"},
                          {"AWS_SECRET_ACCESS_KEY", "s"},
                          {"HF_TOKEN", "s"},
                          {"GITHUB_TOKEN", "s"},
                          {"DYNBENCH_COORDINATOR", "x"},
                          {"https_proxy", "http://user:pass@proxy"},
                          {"http_proxy", "http://proxy"},
                          {"PYTHONPATH", "/elsewhere"},
                          {"LD_PRELOAD", "/evil.so"},
                          {"TMPDIR", "/tmp"}};
  plan::LaunchProfile profile;
  profile.environment = {{"OMP_NUM_THREADS", "4"}};
  profile.numa = "local";
  const Variables child = ChildEnvironment(ours, profile, {"/lib/a.so", "/lib/b.so"}, "/own/tmp");
  const Variables expected = {{"PATH", "/bin"},
                              {"HOME", "/home/u"},
                              {"LC_ALL", "C.UTF-8"},
                              {"http_proxy", "http://proxy"},
                              {"TMPDIR", "/own/tmp"},
                              {"PYTHONUNBUFFERED", "1"},
                              {"PYTORCH_NVML_BASED_CUDA_CHECK", "1"},
                              {"OMP_NUM_THREADS", "4"},
                              {"DYNBENCH_NUMA", "local"},
                              {"LD_PRELOAD", "/lib/a.so:/lib/b.so"}};
  EXPECT_EQ(child, expected);
}

TEST(ChildEnvironment, AMissingPreloadIsAnErrorThatNamesIt) {
  ScratchDir dir;
  WriteText(dir / "libreal.so", "");
  plan::LaunchProfile profile;
  profile.name = "jemalloc";
  profile.preload = {"libreal.so"};
  const auto found = ResolvePreload(profile, {"/nowhere", dir.path()});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, std::vector<std::string>{dir / "libreal.so"});
  profile.preload.push_back("libmissing.so");
  const auto missing = ResolvePreload(profile, {dir.path()});
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(absl::StrContains(missing.status().message(), "libmissing.so"));
  EXPECT_TRUE(absl::StrContains(missing.status().message(), "jemalloc"));
}

}  // namespace
}  // namespace dynbench::worker

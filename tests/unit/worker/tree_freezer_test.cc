// Method: trees of shells that count in files, by cgroup and by signals. What stands still does not
// count while /proc is walked many times, and counts again afterwards.
#include "worker/process/tree_freezer.h"

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/worker/process_tree_testing.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

// Appends to a file for ever, and forks all the while.
constexpr char kCounting[] = R"(
  echo up >&9; exec 9>&-
  while :; do printf x >> "$COUNTER"; (:); done
)";

class FreezeTest : public ProcessTreeTest, public testing::WithParamInterface<bool> {
 protected:
  ScratchDir dir_;  // outlives the tree, which TearDown ends
};

TEST_P(FreezeTest, TheCounterStandsStillWhileFrozenAndGoesOnAfterwards) {
  const std::string counter = dir_ / "counter";
  WriteText(counter, "");
  setenv("COUNTER", counter.c_str(), 1);
  TreeFreezer freezer(getpid(), "test-" + std::to_string(getpid()), /*allow_cgroup=*/GetParam());
  if (GetParam() && freezer.method() != TreeFreezer::Method::kCgroup) {
    GTEST_SKIP() << "no writable cgroup2 here";
  }
  Grow(kCounting, 1);
  Grow(kCounting, 1);
  ASSERT_TRUE(freezer.Freeze());
  const auto frozen_size = std::filesystem::file_size(counter);
  const auto frozen_tree = Descendants(getpid());
  // 200 walks are far more time than a counting process needs for a step.
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(std::filesystem::file_size(counter), frozen_size);
    ASSERT_EQ(Descendants(getpid()).size(), frozen_tree.size());
  }
  freezer.Thaw();
  while (std::filesystem::file_size(counter) == frozen_size) {
  }
  KillTree({.root = getpid(), .reap = Reap});  // before the group goes
}

// What a worker stops for a window: the trees of all other lanes, grown before they were adopted.
TEST_P(FreezeTest, SeveralTreesStandStillTogetherAndGoOnOneByOne) {
  std::vector<std::string> counters;
  for (const char* name : {"one", "two", "three"}) {
    counters.push_back(dir_ / name);
    WriteText(counters.back(), "");
    Grow("export COUNTER=" + counters.back() + "; sh -c '" + kCounting + "' & exec 9>&-; wait", 1);
  }
  std::vector<std::unique_ptr<TreeFreezer>> lanes;
  std::vector<TreeFreezer*> trees;
  for (const ProcessStat& process : Descendants(getpid())) {
    if (process.parent != getpid()) continue;
    const std::string name = "test-" + std::to_string(getpid()) + "-" + std::to_string(process.pid);
    lanes.push_back(std::make_unique<TreeFreezer>(process.pid, name, GetParam()));
    trees.push_back(lanes.back().get());
  }
  ASSERT_EQ(trees.size(), counters.size());
  if (GetParam() && trees[0]->method() != TreeFreezer::Method::kCgroup) {
    GTEST_SKIP() << "no writable cgroup2 here";
  }
  const auto sizes = [&] {
    std::vector<uintmax_t> all;
    for (const std::string& counter : counters) all.push_back(std::filesystem::file_size(counter));
    return all;
  };
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(TreeFreezer::FreezeAll(trees), std::vector<bool>(trees.size(), true));
    const auto frozen = sizes();
    for (int i = 0; i < 200; ++i) {
      Descendants(getpid());
      ASSERT_EQ(sizes(), frozen);
    }
    for (size_t i = 0; i < trees.size(); ++i) {
      trees[i]->Thaw();
      while (std::filesystem::file_size(counters[i]) == frozen[i]) {
      }
    }
  }
  KillTree({.root = getpid(), .reap = Reap});  // before the groups go
}

INSTANTIATE_TEST_SUITE_P(Methods, FreezeTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Cgroup" : "Signals"; });

}  // namespace
}  // namespace dynbench::worker

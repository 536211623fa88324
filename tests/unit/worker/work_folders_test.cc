// Method: folders are made, filled and kept as a slot does it, in a folder of the test's own.
#include "worker/agent/work_folders.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/agent/caches.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

TEST(WorkFolders, ArePrivateAndOnlyTheNewestFailuresStay) {
  ScratchDir dir;
  WorkFolders folders(dir / "work", 2);
  std::vector<WorkFolder> made;
  for (int i = 1; i <= 4; ++i) {
    auto work = folders.Make({ExperimentId(i), LeaseEpoch(9)});
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_EQ(Mode(work->root), 0700);
    EXPECT_TRUE(fs::is_empty(work->run_dir));
    ASSERT_TRUE(Caches::MakeCold(work->cache_dir).ok());
    made.push_back(*work);
  }
  folders.Remove(made[3]);
  EXPECT_FALSE(fs::exists(made[3].root));
  for (int i = 0; i < 3; ++i) {
    folders.Keep(made[i], "{}", "its log", "crash");
    if (fs::exists(made[i].root)) {
      fs::last_write_time(made[i].root + "/kept.txt",
                          fs::file_time_type::clock::now() - std::chrono::hours(10 - i));
    }
  }
  EXPECT_FALSE(fs::exists(made[0].root)) << "the oldest goes";
  EXPECT_EQ(ReadText(made[2].root + "/log"), "its log");
  EXPECT_EQ(ReadText(made[2].root + "/experiment.json"), "{}");
  EXPECT_FALSE(fs::exists(made[2].cache_dir)) << "caches are large and no evidence";
}

TEST(WorkFolders, FailuresOfAnEarlierProcessAgeAwayFirst) {
  ScratchDir dir;
  std::vector<WorkFolder> made;
  for (int i = 1; i <= 3; ++i) {
    WorkFolders process(dir / "work", 2);  // each in a process of its own
    auto work = process.Make({ExperimentId(i), LeaseEpoch(9)});
    ASSERT_TRUE(work.ok()) << work.status();
    made.push_back(*work);
    process.Keep(*work, "{}", "", "crash");
    if (i == 3) break;
    fs::last_write_time(work->root + "/kept.txt",
                        fs::file_time_type::clock::now() - std::chrono::hours(10 + i));
  }
  EXPECT_TRUE(fs::exists(made[0].root)) << "the older mark is that of the second";
  EXPECT_FALSE(fs::exists(made[1].root));
  EXPECT_TRUE(fs::exists(made[2].root));
}

TEST(WorkFolders, WhatAnEarlierTryOfTheSameAttemptLeftIsRemovedFirst) {
  ScratchDir dir;
  WorkFolders folders(dir / "work", 2);
  const AttemptId attempt{ExperimentId(1), LeaseEpoch(9)};
  const auto first = folders.Make(attempt);
  ASSERT_TRUE(first.ok()) << first.status();
  WriteText(first->run_dir + "/left", "over");
  const auto second = folders.Make(attempt);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(fs::is_empty(second->run_dir));
}

TEST(WorkFolders, WhatAKilledProcessLeftIsKeptAsAFailureAndAgesAway) {
  ScratchDir dir;
  ASSERT_TRUE(WorkFolders(dir / "work", 2).Make({ExperimentId(1), LeaseEpoch(9)}).ok());
  WorkFolders again(dir / "work", 2);
  EXPECT_EQ(again.SweepLeftovers(), 1);
  EXPECT_EQ(again.SweepLeftovers(), 0);
}

}  // namespace
}  // namespace dynbench::worker

// Method: work folders are filled as a child would fill them; what is kept, noted and removed is
// looked at on disk.
#include "worker/agent/artifacts.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ArtifactsTest : public testing::Test {
 protected:
  ArtifactsTest() { fs::create_directories(dir_ / "artifacts"); }

  static AttemptId Id(int64_t experiment) { return {ExperimentId(experiment), LeaseEpoch(7)}; }

  WorkFolder Work(int64_t experiment) {
    auto work = folders_.Make(Id(experiment));
    EXPECT_TRUE(work.ok());
    return *work;
  }
  // A file of the child's artifacts.
  void Left(const WorkFolder& work, const std::string& name, size_t bytes) {
    const fs::path path = fs::path(Artifacts::FolderOfChild(work)) / name;
    fs::create_directories(path.parent_path());
    WriteText(path, std::string(bytes, 'a'));
  }

  ScratchDir dir_;
  WorkFolders folders_{dir_ / "work", 5};
  Artifacts artifacts_{dir_ / "artifacts", 1'000, 2'000};
};

TEST_F(ArtifactsTest, FilesOutliveTheirWorkFolder) {
  const WorkFolder work = Work(3);
  Left(work, "trace/a.log", 10);
  Left(work, "repro.py", 20);
  const KeptArtifacts kept = artifacts_.Take(Id(3), work, /*with_cache=*/false);
  folders_.Remove(work);
  const std::string root = dir_ / "artifacts/3.7/run/";
  EXPECT_THAT(kept.files, ElementsAre(root + "repro.py", root + "trace/a.log"));
  EXPECT_THAT(kept.notes, IsEmpty());
  for (const std::string& file : kept.files) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(ArtifactsTest, NothingLeftIsNothingKept) {
  const KeptArtifacts kept = artifacts_.Take(Id(3), Work(3), true);
  EXPECT_THAT(kept.files, IsEmpty());
  EXPECT_TRUE(fs::is_empty(dir_ / "artifacts"));
}

TEST_F(ArtifactsTest, TheCacheIsKeptOnlyWhenAskedFor) {
  for (const bool asked : {false, true}) {
    const WorkFolder work = Work(3);
    fs::create_directories(work.cache_dir);
    WriteText(work.cache_dir + "/kernel.so", "code");
    EXPECT_EQ(artifacts_.Take(Id(3), work, asked).files.size(), asked ? 1u : 0u);
    EXPECT_EQ(fs::exists(dir_ / "artifacts/3.7/cache/kernel.so"), asked);
  }
}

TEST_F(ArtifactsTest, BeyondTheCapTheLargestAreLeftOutAndItSaysSo) {
  const WorkFolder work = Work(3);
  Left(work, "small", 100);
  Left(work, "large", 5'000);
  Left(work, "medium", 800);
  const KeptArtifacts kept = artifacts_.Take(Id(3), work, false);
  EXPECT_EQ(kept.files.size(), 2u);
  EXPECT_FALSE(fs::exists(dir_ / "artifacts/3.7/run/large"));
  ASSERT_EQ(kept.notes.size(), 1u);
  EXPECT_THAT(kept.notes[0], HasSubstr("1 files"));
}

TEST_F(ArtifactsTest, LinksAreNotKept) {
  const WorkFolder work = Work(3);
  Left(work, "file", 1);
  WriteText(dir_ / "secret", "s");
  fs::create_symlink(dir_ / "secret", fs::path(Artifacts::FolderOfChild(work)) / "link");
  fs::create_directory_symlink(dir_ / "work", fs::path(Artifacts::FolderOfChild(work)) / "folder");
  EXPECT_EQ(artifacts_.Take(Id(3), work, false).files.size(), 1u);
  EXPECT_TRUE(fs::exists(dir_ / "secret"));
  EXPECT_FALSE(fs::is_symlink(dir_ / "artifacts/3.7/run/link"));
}

TEST_F(ArtifactsTest, TheOldestGoFirst) {
  for (const int64_t experiment : {1, 2, 3}) {
    const WorkFolder work = Work(experiment);
    Left(work, "file", 900);
    artifacts_.Take(Id(experiment), work, false);
    // Older than the next, whatever the clock's resolution.
    const fs::path folder = dir_ / ("artifacts/" + std::to_string(experiment) + ".7");
    fs::last_write_time(folder, fs::last_write_time(folder) - std::chrono::hours(10 - experiment));
  }
  EXPECT_FALSE(fs::exists(dir_ / "artifacts/1.7"));
  EXPECT_TRUE(fs::exists(dir_ / "artifacts/2.7"));
  EXPECT_TRUE(fs::exists(dir_ / "artifacts/3.7"));
}

}  // namespace
}  // namespace dynbench::worker

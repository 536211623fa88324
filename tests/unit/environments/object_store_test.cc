// Method: files are adopted and linked in a scratch folder; inodes and modes say whether content is
// on disk once and cannot be written through a link. A copy is cut off for real: in a child that
// the kernel kills, or whose write fails, at a limit of file size, from another file system.
#include "worker/environments/object_store.h"

#include <sys/stat.h>

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/environments/cut_off_testing.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

ino_t Inode(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

ManifestFile FileOf(const std::string& text, bool executable = false) {
  return {"x", executable, static_cast<int64_t>(text.size()), Sha256Hex(text)};
}

TEST(ObjectStore, TheSameContentIsOneInodeAndReadOnly) {
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  WriteText(dir / "one", "text");
  WriteText(dir / "two", "text");
  ASSERT_TRUE(store.Adopt(dir / "one", FileOf("text"), true).ok());
  ASSERT_TRUE(store.Adopt(dir / "two", FileOf("text"), true).ok());
  EXPECT_EQ(Inode(dir / "one"), Inode(dir / "two"));
  EXPECT_EQ(Mode(dir / "one"), 0444);
  ASSERT_TRUE(store.LinkTo(FileOf("text"), dir / "three").ok());
  EXPECT_EQ(Inode(dir / "one"), Inode(dir / "three"));
  // With other bits it is another inode.
  ASSERT_TRUE(store.LinkTo(FileOf("text", true), dir / "program").ok());
  EXPECT_EQ(Mode(dir / "program"), 0555);
  EXPECT_NE(Inode(dir / "one"), Inode(dir / "program"));
  EXPECT_EQ(store.LinkTo(FileOf("other"), dir / "four").code(), absl::StatusCode::kNotFound);
}

TEST(ObjectStore, FilesOfOthersKeepTheirModeAndTheirInode) {
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  WriteText(dir / "theirs", "text");
  chmod((dir / "theirs").c_str(), 0640);
  const ino_t inode = Inode(dir / "theirs");
  ASSERT_TRUE(store.Adopt(dir / "theirs", FileOf("text"), false).ok());
  EXPECT_EQ(Mode(dir / "theirs"), 0640);
  EXPECT_EQ(Inode(dir / "theirs"), inode);
  EXPECT_TRUE(store.Has(Sha256Hex("text")));
}

TEST(ObjectStore, WhatNoEnvironmentHasIsSwept) {
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  WriteText(dir / "kept", "kept");
  ASSERT_TRUE(store.Adopt(dir / "kept", FileOf("kept"), true).ok());
  ASSERT_TRUE(store.folder().Put(Sha256Hex("left"), "left").ok());
  EXPECT_EQ(store.Sweep(/*dry_run=*/true).objects, 1);
  EXPECT_EQ(store.Sweep(/*dry_run=*/false, {Sha256Hex("left")}).objects, 0);
  EXPECT_TRUE(store.Has(Sha256Hex("left")));
  const ObjectStore::Swept swept = store.Sweep(/*dry_run=*/false);
  EXPECT_EQ(swept.objects, 1);
  EXPECT_EQ(swept.bytes, 4);
  EXPECT_FALSE(store.Has(Sha256Hex("left")));
  EXPECT_TRUE(store.Has(Sha256Hex("kept")));
}

TEST(ObjectFolder, OtherContentThanTheNameSaysIsNeverThere) {
  const ScratchDir dir;
  const ObjectFolder folder(dir / "objects");
  auto writer = ObjectWriter::Begin(folder, Sha256Hex("right"));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Add("wro").ok());
  ASSERT_TRUE((*writer)->Add("ng").ok());
  EXPECT_EQ((*writer)->Finish().code(), absl::StatusCode::kDataLoss);
  writer->reset();
  EXPECT_FALSE(folder.Has(Sha256Hex("right")));
  EXPECT_FALSE(ObjectWriter::Begin(folder, "../up").ok());
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "objects")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 0);
}

size_t FilesBelow(const std::string& folder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  return files;
}

TEST(ObjectStore, ACopyThatIsCutOffIsNoObject) {
  const OtherFileSystem theirs;
  if (theirs.path().empty()) GTEST_SKIP() << "no second file system";
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  const std::string large(size_t{4} << 20, 'x');
  WriteText(theirs.path() + "/large", large);
  const int killed = InChildWithFileLimit(SIG_DFL, [&] {
    return store.Adopt(theirs.path() + "/large", FileOf(large), false).ok() ? 0 : 1;
  });
  ASSERT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGXFSZ) << killed;
  EXPECT_FALSE(store.Has(Sha256Hex(large)));
  store.Sweep(/*dry_run=*/false);
  EXPECT_EQ(FilesBelow(dir / "objects"), 0u);

  const int failed = InChildWithFileLimit(SIG_IGN, [&] {
    return store.Adopt(theirs.path() + "/large", FileOf(large), false).ok() ? 0 : 1;
  });
  EXPECT_TRUE(WIFEXITED(failed) && WEXITSTATUS(failed) == 1) << failed;
  EXPECT_EQ(FilesBelow(dir / "objects"), 0u);

  ASSERT_TRUE(store.Adopt(theirs.path() + "/large", FileOf(large), false).ok());
  EXPECT_TRUE(store.HasWhole(FileOf(large)));
  EXPECT_EQ(Mode(store.folder().PathOf(Sha256Hex(large))), 0444);
}

TEST(ObjectStore, AnObjectOfAnotherSizeIsRemovedAndComesAgain) {
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  const std::string object = store.folder().PathOf(Sha256Hex("text"));
  const auto damage = [&] {
    ASSERT_TRUE(store.folder().MakeFolderOf(Sha256Hex("text")).ok());
    WriteText(object, "te");
  };
  damage();
  EXPECT_FALSE(store.HasWhole(FileOf("text")));
  EXPECT_FALSE(std::filesystem::exists(object));
  damage();
  EXPECT_TRUE(absl::IsNotFound(store.LinkTo(FileOf("text"), dir / "linked")));
  damage();
  WriteText(dir / "made", "text");
  ASSERT_TRUE(store.Adopt(dir / "made", FileOf("text"), true).ok());
  EXPECT_EQ(ReadText(dir / "made"), "text");
  EXPECT_EQ(ReadText(object), "text");
}

TEST(ObjectStore, OtherContentOfTheSameSizeIsFoundByReading) {
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  ASSERT_TRUE(store.folder().Put(Sha256Hex("text"), "text").ok());
  EXPECT_TRUE(store.Verify(Sha256Hex("text")).ok());
  EXPECT_TRUE(store.Verify(Sha256Hex("none")).ok());
  const std::string object = store.folder().PathOf(Sha256Hex("text"));
  std::filesystem::permissions(object, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  WriteText(object, "tEXT");
  // With other bits it would be copied: a copy of damage is none.
  EXPECT_TRUE(absl::IsDataLoss(store.LinkTo(FileOf("text", true), dir / "program")));
  EXPECT_FALSE(store.Has(Sha256Hex("text")));
  WriteText(object, "tEXT");
  EXPECT_TRUE(absl::IsDataLoss(store.Verify(Sha256Hex("text"))));
  EXPECT_FALSE(store.Has(Sha256Hex("text")));
}

}  // namespace
}  // namespace dynbench::worker

// Method: files are adopted and linked in a scratch folder; inodes and modes say whether content is
// on disk once and cannot be written through a link.
#include "worker/environments/object_store.h"

#include <sys/stat.h>

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
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

}  // namespace
}  // namespace dynbench::worker

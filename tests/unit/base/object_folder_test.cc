// Method: objects in a folder of the test's own, with digests that fit and digests that do not.
#include "common/base/object_folder.h"

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench {
namespace {

class ObjectFolderTest : public testing::Test {
 protected:
  size_t Files() const {
    size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.folder())) {
      files += entry.is_regular_file();
    }
    return files;
  }

  worker::ScratchDir dir_;
  const ObjectFolder folder_{dir_ / "objects"};
  const std::string digest_ = Sha256Hex("content");
};

TEST_F(ObjectFolderTest, WhatIsPutIsThereOnce) {
  EXPECT_FALSE(folder_.Has(digest_));
  ASSERT_TRUE(folder_.Put(digest_, "content").ok());
  ASSERT_TRUE(folder_.Put(digest_, "content").ok());
  EXPECT_TRUE(folder_.Has(digest_));
  EXPECT_EQ(Files(), 1u);
  EXPECT_EQ(Sha256OfFile(folder_.PathOf(digest_)).value_or(""), digest_);
  EXPECT_TRUE(absl::IsNotFound(Sha256OfFile(folder_.PathOf(Sha256Hex("other"))).status()));
}

TEST_F(ObjectFolderTest, OtherBytesThanTheDigestNamesLeaveNothing) {
  auto writer = ObjectWriter::Begin(folder_, digest_);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->Add("cont").ok());
  ASSERT_TRUE((*writer)->Add("inued").ok());
  EXPECT_TRUE(absl::IsDataLoss((*writer)->Finish()));
  writer->reset();
  EXPECT_FALSE(folder_.Has(digest_));
  EXPECT_EQ(Files(), 0u);
  EXPECT_TRUE(absl::IsInvalidArgument(ObjectWriter::Begin(folder_, "../../etc/x").status()));
}

TEST_F(ObjectFolderTest, AnUnfinishedOneIsNoObjectAndAVariantIsAnother) {
  auto unfinished = ObjectWriter::Begin(folder_, digest_);
  ASSERT_TRUE(unfinished.ok()) << unfinished.status();
  ASSERT_TRUE((*unfinished)->Add("con").ok());
  EXPECT_FALSE(folder_.Has(digest_));
  auto variant = ObjectWriter::Begin(folder_, digest_, "x");
  ASSERT_TRUE(variant.ok()) << variant.status();
  ASSERT_TRUE((*variant)->Add("content").ok());
  ASSERT_TRUE((*variant)->Finish().ok());
  EXPECT_TRUE(folder_.Has(digest_, "x"));
  EXPECT_FALSE(folder_.Has(digest_));
  int seen = 0;
  folder_.ForEach([&](const ObjectFolder::Object& object) {
    ++seen;
    EXPECT_EQ(object.sha256, digest_);
    EXPECT_EQ(object.variant, "x");
  });
  EXPECT_EQ(seen, 1);
}

TEST_F(ObjectFolderTest, WhatAPowerCutEmptiedIsNotThereAndIsReplaced) {
  ASSERT_TRUE(folder_.MakeFolderOf(digest_).ok());
  worker::WriteText(folder_.PathOf(digest_), "");
  EXPECT_FALSE(folder_.Has(digest_));
  ASSERT_TRUE(folder_.Put(digest_, "content").ok());
  EXPECT_EQ(worker::ReadText(folder_.PathOf(digest_)), "content");
}

TEST_F(ObjectFolderTest, AFolderThatCannotBeMadeIsNoServerThatIsAway) {
  const ObjectFolder nowhere("/proc/dynbench-objects");
  const absl::Status status = nowhere.Put(digest_, "content");
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find("/proc/dynbench-objects"), std::string_view::npos) << status;
}

}  // namespace
}  // namespace dynbench

// Method: replace real files; a failure must leave what was there and nothing beside it.
#include "common/base/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace dynbench {
namespace {

// A folder of its own, removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "dynbench-file.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t Entries(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(WriteFileDurably, HoldsTheNewBytesAndNothingIsLeftBesideIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a b.csv";
  ASSERT_TRUE(WriteFileDurably(path, "one").ok());
  ASSERT_TRUE(WriteFileDurably(path, std::string("t\0o", 3)).ok());
  EXPECT_EQ(Read(path), std::string("t\0o", 3));
  EXPECT_EQ(Entries(folder.path()), 1U);
}

TEST(WriteFileDurably, AFailureNamesThePathAndKeepsWhatWasThere) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/taken");
  std::ofstream(folder.path() + "/taken/x") << "kept";
  const absl::Status status = WriteFileDurably(folder.path() + "/taken", "new");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(folder.path() + "/taken"));
  EXPECT_EQ(Read(folder.path() + "/taken/x"), "kept");
  EXPECT_EQ(Entries(folder.path()), 1U) << "no temporary file is left";
  EXPECT_FALSE(WriteFileDurably(folder.path() + "/none/x", "new").ok());
}

TEST(WriteFileDurably, TheModeIsTheCallersChoice) {
  const TemporaryFolder folder;
  const auto mode = [&](const std::string& name) {
    struct stat info {};
    EXPECT_EQ(stat((folder.path() + name).c_str(), &info), 0);
    return info.st_mode & 0777;
  };
  ASSERT_TRUE(WriteFileDurably(folder.path() + "/private", "x").ok());
  EXPECT_EQ(mode("/private"), 0600U);
  const mode_t mask = umask(0022);
  ASSERT_TRUE(WriteFileDurably(folder.path() + "/output", "x", kReadableByAll).ok());
  umask(mask);
  EXPECT_EQ(mode("/output"), 0644U);
}

}  // namespace
}  // namespace dynbench

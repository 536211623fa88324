// Method: replace real files; a failure must leave what was there and nothing beside it.
#include "tools/dynbenchctl/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t Entries(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ReplaceFile, HoldsTheNewBytesAndNothingIsLeftBesideIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a b.csv";
  ASSERT_TRUE(ReplaceFile(path, "one").ok());
  ASSERT_TRUE(ReplaceFile(path, std::string("t\0o", 3)).ok());
  EXPECT_EQ(Read(path), std::string("t\0o", 3));
  EXPECT_EQ(Entries(folder.path()), 1U);
}

TEST(ReplaceFile, AFailureNamesThePathAndKeepsWhatWasThere) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/taken");
  folder.Write("taken/x", "kept");
  const absl::Status status = ReplaceFile(folder.path() + "/taken", "new");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(folder.path() + "/taken"));
  EXPECT_EQ(Read(folder.path() + "/taken/x"), "kept");
  EXPECT_EQ(Entries(folder.path()), 1U) << "no temporary file is left";
  EXPECT_FALSE(ReplaceFile(folder.path() + "/none/x", "new").ok());
}

}  // namespace
}  // namespace dynbench::cli

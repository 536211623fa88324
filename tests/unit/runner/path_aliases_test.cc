// Links to real folders, looked at through the file system.
#include "worker/runner/path_aliases.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

namespace fs = std::filesystem;

TEST(PathAliasesTest, PlainPathsStay) {
  PathAliases aliases;
  EXPECT_EQ(aliases.For("/var/lib/dynbench/work/7.1_a"), "/var/lib/dynbench/work/7.1_a");
}

TEST(PathAliasesTest, BlanksAndQuotesGetALinkThatIsGoneAfterwards) {
  const fs::path folder = fs::path(testing::TempDir()) / "a b'ü$(c)";
  fs::create_directories(folder);
  std::string link;
  {
    PathAliases aliases;
    link = aliases.For(folder.string());
    EXPECT_EQ(link.find(' '), std::string::npos);
    std::ofstream(fs::path(link) / "file") << "x";
    EXPECT_TRUE(fs::exists(folder / "file"));
    EXPECT_NE(aliases.For(folder.string()), folder.string());
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(link)));
  EXPECT_FALSE(fs::exists(fs::path(link).parent_path()));
  EXPECT_TRUE(fs::exists(folder / "file"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace dynbench::runner

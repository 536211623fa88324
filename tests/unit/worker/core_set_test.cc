// Method: texts with their sets; then random sets, which must come back from their own text.
#include "worker/host/core_set.h"

#include <random>
#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(CoreSet, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(*ParseCoreSet("0"), (std::vector<int>{0}));
  EXPECT_EQ(*ParseCoreSet("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(*ParseCoreSet("8,0-3,2"), (std::vector<int>{0, 1, 2, 3, 8}));
}

TEST(CoreSet, RefusesWhatIsNoSetAndQuotesIt) {
  for (const char* text : {"", ",", "a", "1-", "-1", "3-1", "1,,2", "1;2", "1 2", "0-99999"}) {
    SCOPED_TRACE(text);
    const auto cores = ParseCoreSet(text);
    ASSERT_EQ(cores.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(std::string(cores.status().message()), text));
  }
}

TEST(CoreSet, ComesBackFromItsOwnText) {
  EXPECT_EQ(FormatCoreSet({}), "");
  EXPECT_EQ(FormatCoreSet({0, 1, 2, 3, 8}), "0-3,8");
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::set<int> set;
    for (int i = 1 + static_cast<int>(random() % 20); i > 0; --i) set.insert(random() % 40);
    const std::vector<int> cores(set.begin(), set.end());
    const std::string text = FormatCoreSet(cores);
    const auto back = ParseCoreSet(text);
    ASSERT_TRUE(back.ok()) << text << ": " << back.status();
    EXPECT_EQ(*back, cores) << text;
  }
}

}  // namespace
}  // namespace dynbench::worker

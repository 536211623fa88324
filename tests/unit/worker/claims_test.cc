// Method: two Claims objects in one process stand for two workers; the shares are a pure function
// and are checked over many shapes of host.
#include "worker/host/claims.h"

#include <unistd.h>

#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

std::string Scope(const char* name) { return std::string(name) + std::to_string(getpid()); }

TEST(Claims, OneHolderEachAndTheOtherLearnsWho) {
  Claims second(Scope("a"));
  {
    Claims first(Scope("a"));
    ASSERT_TRUE(first.Claim("core/0").ok());
    EXPECT_TRUE(first.Claim("core/0").ok());
    EXPECT_EQ(second.Holder("core/0"), getpid());
    const absl::Status refused = second.Claim("core/0");
    EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_TRUE(absl::StrContains(refused.message(), std::to_string(getpid())));
    EXPECT_TRUE(second.Claim("core/1").ok());
    EXPECT_TRUE(Claims(Scope("b")).Claim("core/0").ok()) << "another scope is another fleet";
  }
  EXPECT_EQ(second.Holder("core/0"), std::nullopt);
  EXPECT_TRUE(second.Claim("core/0").ok());
}

TEST(Claims, SharesAreDisjointCompleteAndKeepSiblingsTogether) {
  for (int core_count = 1; core_count <= 9; ++core_count) {
    for (int siblings = 1; siblings <= 2; ++siblings) {
      std::vector<Core> cores;
      for (int i = 0; i < core_count; ++i) {
        Core core;
        for (int s = 0; s < siblings; ++s) core.cpus.push_back(i + s * core_count);
        cores.push_back(core);
      }
      for (int count = 1; count <= core_count; ++count) {
        std::set<int> all;
        for (int index = 1; index <= count; ++index) {
          const auto cpus = CpusOfShare(cores, {index, count});
          EXPECT_FALSE(cpus.empty());
          EXPECT_EQ(cpus.size() % siblings, 0u);
          for (const int cpu : cpus) EXPECT_TRUE(all.insert(cpu).second) << "shared twice";
        }
        EXPECT_EQ(all.size(), static_cast<size_t>(core_count * siblings));
      }
    }
  }
}

TEST(Claims, MoreSharesThanCoresDivideSiblingsAndThenComeOutEmpty) {
  const std::vector<Core> one = {{0, {0, 1}}};
  EXPECT_EQ(CpusOfShare(one, {1, 2}), std::vector<int>{0});
  EXPECT_EQ(CpusOfShare(one, {2, 2}), std::vector<int>{1});
  size_t sum = 0;
  for (int i = 1; i <= 3; ++i) sum += CpusOfShare(one, {i, 3}).size();
  EXPECT_EQ(sum, 2u);
}

TEST(Claims, SharesAreRead) {
  EXPECT_EQ(ParseShare("2/3")->index, 2);
  for (const char* bad : {"0/2", "3/2", "1", "a/b", "1/0", "1/2/3", ""}) {
    EXPECT_FALSE(ParseShare(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace dynbench::worker

// Method: the verbs that look over nights, on a seeded database of ten nights on three hosts, byte
// for byte against tests/golden/cli.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/golden/golden_testing.h"
#include "tests/golden/seeded_nights.h"
#include "tools/dynbenchctl/run.h"

namespace dynbench::cli {
namespace {

using testing::HasSubstr;

class NightsGolden : public SeededTest<&golden::SeedNights> {
 protected:
  static Ran Type(std::vector<std::string> words) {
    words.insert(words.end(), {"--db", kDatabase});
    return RunIn(folder_, words);
  }
};

TEST_F(NightsGolden, WhatTheyPrint) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"hosts.txt", {"hosts", "--since", "36500d"}},
      {"history.txt", {"history", "ghostnet_100"}},
      {"history.json", {"history", "timm/resnet18", "--nights", "2", "--json"}},
      {"durations.txt", {"durations", "10"}},
      {"durations.json", {"durations", "10", "--nights", "2", "--json"}},
  };
  for (const auto& [name, words] : cases) {
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 0) << name << ": " << ran.err;
    EXPECT_EQ(ran.err, "") << name;
    CompareWithFile(name, ran.out);
  }
}

// A user's report: the nightly creeps and nobody can tell which model grew.
TEST_F(NightsGolden, TheModelThatMadeTheNightLonger) {
  const auto json = nlohmann::json::parse(Type({"durations", "10", "--json"}).out);
  EXPECT_EQ(json["against"][0]["job"], 9) << "the night before";
  ASSERT_EQ(json["explaining"], 2);
  EXPECT_EQ(json["models"][0]["model"], "timm/vit_small");
  EXPECT_DOUBLE_EQ(json["models"][0]["change_by_part_s"]["compile"], 240);
}

// Another report: a model flips between passing and failing across nights.
TEST_F(NightsGolden, AModelThatFlipsIsNoRegression) {
  const Ran ran = Type({"compare", "9", "10", "--metric", "status"});
  EXPECT_EQ(ran.code, 1) << "resnet18 is real: " << ran.out << ran.err;
  CompareWithFile("compare_flips.txt", ran.out);
  const auto json =
      nlohmann::json::parse(Type({"compare", "9", "10", "--metric", "status", "--json"}).out);
  EXPECT_EQ(json["gate"]["reason"],
            "1 regressions; unsteady, not counted: timm/ghostnet_100 flips 5/10");
  ASSERT_EQ(json["findings"].size(), 2U);
  EXPECT_EQ(json["findings"][0]["experiment"]["model"], "resnet18");
  EXPECT_EQ(json["findings"][0]["flips"], 1);
  EXPECT_EQ(json["findings"][1]["unsteady"], true);
  EXPECT_EQ(json["findings"][1]["outcomes"], "+x+x+x+x+x");
}

// What came later says nothing of a night that is compared.
TEST_F(NightsGolden, OnlyNightsUpToTheNewestThatIsCompared) {
  const auto json = nlohmann::json::parse(Type({"compare", "1", "2", "--json"}).out);
  EXPECT_EQ(json["gate"]["state"], "regression") << json["gate"];
  EXPECT_EQ(json["findings"][0]["outcomes"], "+x");
}

// A third: one node is behind most slow and dead jobs.
TEST_F(NightsGolden, TheHostThatIsSlowerThanItsPool) {
  const auto json = nlohmann::json::parse(Type({"hosts", "--since", "36500d", "--json"}).out);
  EXPECT_EQ(json["schema"], "dynbench.hosts/1");
  ASSERT_EQ(json["hosts"].size(), 3U);
  const auto& slow = json["hosts"][0];
  EXPECT_EQ(slow["host"], "bench-3");
  EXPECT_THAT(slow["text"].get<std::string>(), HasSubstr("bench-3 is 2.0x slower than its pool"));
  EXPECT_EQ(slow["latency"]["slow"], true);
  EXPECT_EQ(slow["infrastructure_failures"], 5);
  for (const int other : {1, 2}) EXPECT_EQ(json["hosts"][other]["sick"], false);
  EXPECT_EQ(Type({"hosts", "--since", "1s"}).code, 4) << "nothing was measured since";
}

TEST_F(NightsGolden, WhatMakesNoSenseIsRefused) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"no result of a model 'resnet81'", {"history", "resnet81"}},
      {"no result of a model", {"history", "torchbench/resnet18"}},
      {"no earlier job is like job 1 ", {"durations", "1"}},
      {"the newest is 10", {"durations", "11"}},
      {"is the job itself", {"durations", "3", "--against", "3"}},
      {"--against takes jobs alone", {"durations", "3", "--against", "2:default"}},
      {"--all would have no effect", {"durations", "3", "--all", "--json"}},
  };
  for (const auto& [message, words] : cases) {
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 2) << message << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace dynbench::cli

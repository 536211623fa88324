// Method: `compare` on a seeded database of two builds, three processes each, byte for byte against
// tests/golden/cli, with its exit codes; and each way of asking for something that makes no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/golden/golden_testing.h"
#include "tests/golden/seeded_compare.h"
#include "tools/dynbenchctl/run.h"

namespace dynbench::cli {
namespace {

using testing::HasSubstr;

class CompareGolden : public SeededTest<&golden::SeedCompare> {
 protected:
  static Ran Type(std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    words.insert(words.end(), {"--db", kDatabase});
    return RunIn(folder_, words);
  }
};

TEST_F(CompareGolden, EveryOutputOfTwoBuilds) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"compare.txt", {}},
      {"compare.json", {"--json"}},
      {"compare.csv", {"--csv"}},
      {"compare.md", {"--markdown"}},
      {"compare_regression.csv", {"--layout", "regression"}},
      {"compare_why.txt", {"--why", "deit_tiny"}},
  };
  for (const auto& [name, flags] : cases) {
    std::vector<std::string> words = {"1,2,3", "4,5,6"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 1) << name << ": " << ran.err;
    EXPECT_EQ(ran.err, "") << name;
    CompareWithFile(name, ran.out);
  }
}

// Table, JSON and gate have one rule (a user's report: page and bot disagreed).
TEST_F(CompareGolden, NumbersOfTableAndJsonAgree) {
  const auto json = nlohmann::json::parse(Type({"1,2,3", "4,5,6", "--json"}).out);
  EXPECT_EQ(json["schema"], "dynbench.compare/1");
  EXPECT_EQ(json["gate"]["state"], "regression");
  int red = 0;
  for (const auto& finding : json["findings"]) red += finding["level"] == "red" ? 1 : 0;
  EXPECT_EQ(json["gate"]["reason"], std::to_string(red) + " regressions");
  EXPECT_EQ(json["findings"][0]["experiment"]["model"], "resnet18") << "broken comes first";
}

TEST_F(CompareGolden, ExitCodes) {
  EXPECT_EQ(Type({"1,2,3", "4,5,6", "--metric", "memory"}).code, 0);
  EXPECT_EQ(Type({"1,2,3", "4,5,6", "--metric", "compiled_latency", "--threshold", "30%"}).code, 0);
  const Ran alone = Type({"1", "4", "--metric", "compiled_latency"});
  EXPECT_EQ(alone.code, 4) << alone.out;
  EXPECT_THAT(alone.out, HasSubstr("one process a side cannot tell a change from noise"));
  const Ran floor = Type({"1", "4", "--metric", "compiled_latency", "--noise", "1,2,3"});
  EXPECT_EQ(floor.code, 1) << floor.out << "the noise floor of three processes makes it certain";
}

TEST_F(CompareGolden, WhatMakesNoSenseIsRefused) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"job 1 is on both sides", {"1,2", "1"}},
      {"named twice", {"1,1", "4"}},
      {R"(did you mean "deit_tiny"?)", {"1", "4", "--why", "deit_tin"}},
      {"they have default", {"1:nightly", "4"}},
      {"is no percentage", {"1", "4", "--threshold", "much"}},
      {"exclude each other", {"1", "4", "--csv", "--json"}},
      {"did you mean memory", {"1", "4", "--metric", "memori"}},
      {"is no number of a job", {"one", "4"}},
  };
  for (const auto& [message, words] : cases) {
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 2) << message << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace dynbench::cli

// Method: a suite of ten, of which one job ran five, skipped three by rule and left two out, and a
// name that nobody knows; each must be told apart.
#include "common/formats/coverage.h"

#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;

TEST(Coverage, PlannedRanSkippedAndNotInTheSuite) {
  std::vector<store::ResultRow> rows;
  std::vector<std::string> suite;
  for (int i = 0; i < 10; ++i) {
    const std::string model = "m" + std::to_string(i);
    suite.push_back(model);
    if (i < 5) {
      rows.push_back(Measured(model, 2, 1));
      rows.push_back(Failed(Waiting(model, plan::Test::kAccuracy), "crash", plan::Phase::kCompile,
                            plan::Blame::kCompiler, "x"));
    } else if (i < 8) {
      rows.push_back(Done(Waiting(model, plan::Test::kPerformance), plan::Outcome::kSkipped, ""));
      rows.back().experiment.reason = "needs a GPU";
    }
  }
  const auto models = CoverageOfModels(rows, suite, {"m0", "unknown"});
  ASSERT_EQ(models.size(), 11U);
  EXPECT_EQ(models[0].state, "ran");
  EXPECT_EQ(models[0].counts.failed, 1);
  EXPECT_EQ(models[6].state, "skipped");
  EXPECT_EQ(models[6].reason, "needs a GPU");
  EXPECT_EQ(models[9].state, "not planned");
  EXPECT_EQ(models[10].state, "not in suite");
  EXPECT_EQ(models[10].model, "unknown");
  const std::string text = CoverageTable(JobOf(rows), models, {});
  EXPECT_THAT(text, HasSubstr("11 models: 5 ran, 3 skipped, 2 not planned, 1 not in suite"));
  const auto json = CoverageOfModelsJson(JobOf(rows), models);
  EXPECT_EQ(json["schema"], "dynbench.coverage/1");
  EXPECT_EQ(json["coverage"]["planned"], 13);
}

TEST(Coverage, WhatHasNotEndedHasNotRun) {
  std::vector<store::ResultRow> rows = {Waiting("a", plan::Test::kPerformance),
                                        Waiting("b", plan::Test::kPerformance)};
  rows[1].state = "running";
  const auto models = CoverageOfModels(rows, {}, {});
  EXPECT_EQ(models[0].state, "waiting");
  EXPECT_EQ(models[1].state, "running");
}

}  // namespace
}  // namespace dynbench::formats

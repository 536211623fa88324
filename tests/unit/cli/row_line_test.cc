// Method: single rows as they land in a pipe, and their JSON beside the line.
#include "tools/dynbenchctl/row_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/rows_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RowLine, APassedOneHasItsFigures) {
  const std::string line = RowLine(Passed(1, "ghostnet_100"));
  EXPECT_THAT(line, StartsWith("passed    ghostnet_100 performance: 1.25x"));
  EXPECT_THAT(line, HasSubstr("10"));
}

TEST(RowLine, AFailedOneSaysWhereWhoseFaultAndWhy) {
  const std::string line = RowLine(Failed(1, "repvgg_a2", "killed by signal 11\nand more"));
  EXPECT_THAT(line, StartsWith("failed    repvgg_a2 performance: crash in compile"));
  EXPECT_THAT(line, HasSubstr("compiler"));
  EXPECT_THAT(line, HasSubstr("killed by signal 11"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(RowLine, ASkippedOneSaysWhyOnce) {
  RowView row = MakeRow(1, "m", "done");
  row.row.result.emplace();
  row.row.result->outcome = plan::Outcome::kSkipped;
  row.row.experiment.reason = "too slow";
  EXPECT_EQ(RowLine(row), "skipped   m performance: too slow");
}

TEST(RowLine, ARunningOneSaysItsPhase) {
  RowView row = MakeRow(1, "m", "running");
  row.phase = "compile";
  EXPECT_EQ(RowLine(row), "running   m performance: compile");
}

TEST(RowLine, WordsThatAreNotTheDefaultsAreSaid) {
  RowView row = MakeRow(1, "m", "waiting");
  row.row.experiment.mode = plan::Mode::kTraining;
  row.row.experiment.start = plan::Start::kWarm;
  row.row.experiment.configuration = "freezing";
  EXPECT_EQ(RowLine(row), "waiting   m performance [training, freezing, warm]");
}

TEST(RowLine, JsonHasThePhaseOfWhatRuns) {
  RowView running = MakeRow(7, "m", "running");
  running.phase = "compile";
  const auto json = ResultsJson(MakeJob({2, 1, 0, 0, 0, 0, 0, 1}), {Passed(6, "a"), running});
  EXPECT_EQ(json["schema"], "dynbench.results/1");
  EXPECT_EQ(json["results"][1]["phase"], "compile");
  EXPECT_EQ(json["results"][1]["experiment"]["id"], 7);
  EXPECT_EQ(json["results"][0]["outcome"], "passed");
  EXPECT_TRUE(json["results"][1]["outcome"].is_null());
}

}  // namespace
}  // namespace dynbench::cli

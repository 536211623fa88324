// Method: lines as a program prints them, and an ending, in; a result out.
#include "worker/engine/command_report.h"

#include <signal.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

using plan::Blame;
using plan::Outcome;
using plan::Phase;
using testing::HasSubstr;

plan::Result ResultOf(const std::vector<std::string>& lines, const Ending& ending = {},
                      plan::Test test = plan::Test::kPerformance) {
  CommandReport report;
  for (const std::string& line : lines) report.Read(line);
  plan::Experiment experiment;
  experiment.test = test;
  return report.MakeResult(ending, "the log\n", experiment);
}

TEST(CommandReport, SamplesBecomeTheirFigures) {
  const auto result =
      ResultOf({"hello", R"(dynbench: {"sample":"eager","ns":[3000000,3000000]})",
                R"(dynbench:{"sample":"compiled","ns":1500000})", R"(dynbench: {"batch_size": 8})",
                R"(dynbench: {"metric":"graph_breaks","value":2})",
                R"(dynbench: {"fact":"driver","value":"550"})", R"(dynbench: {"note":"fine"})"});
  EXPECT_EQ(result.outcome, Outcome::kPassed);
  EXPECT_EQ(result.status, "measured");
  EXPECT_DOUBLE_EQ(*result.metrics.abs_latency_ms, 1.5);
  EXPECT_DOUBLE_EQ(*result.metrics.eager_latency_ms, 3);
  EXPECT_DOUBLE_EQ(*result.metrics.speedup, 2);
  EXPECT_EQ(*result.metrics.graph_breaks, 2);
  EXPECT_EQ(result.batch_size, 8);
  EXPECT_EQ(result.in_force.at("command.driver"), "550");
  EXPECT_THAT(result.notes, testing::Contains("fine"));
}

TEST(CommandReport, EndingWithoutAMeasurementIsACrashWhateverTheExitCode) {
  EXPECT_EQ(ResultOf({"all is well"}).status, "crash");
  Ending failed;
  failed.exit = {3, 0};
  failed.phase = Phase::kLoad;
  const auto result = ResultOf({R"(dynbench: {"metric":"speedup","value":2})"}, failed);
  EXPECT_EQ(result.status, "crash");
  EXPECT_EQ(result.blame, Blame::kModel);
  EXPECT_EQ(result.metrics, plan::Metrics()) << "a failure is no number";
  EXPECT_EQ(
      ResultOf({R"(dynbench: {"metric":"speedup","value":2})"}, {}, plan::Test::kAccuracy).status,
      "crash")
      << "an accuracy test wants a status";
}

TEST(CommandReport, AStatusDecidesAlsoWhenTheProgramDiesAfterIt) {
  Ending dies;
  dies.exit = {-1, SIGSEGV};
  const auto passed = ResultOf({R"(dynbench: {"status":"pass"})"}, dies, plan::Test::kAccuracy);
  EXPECT_EQ(passed.outcome, Outcome::kPassed);
  EXPECT_EQ(passed.exit_signal, SIGSEGV);
  const auto failed = ResultOf({R"(dynbench: {"status":"fail_accuracy","error":"off by one"})"});
  EXPECT_EQ(failed.outcome, Outcome::kFailed);
  EXPECT_EQ(failed.blame, Blame::kCompiler);
  EXPECT_EQ(failed.error, "off by one");
  const auto lost = ResultOf({R"(dynbench: {"status":"no_licence","blame":"infrastructure"})"});
  EXPECT_EQ(lost.outcome, Outcome::kLost);
}

TEST(CommandReport, WhatItCannotTakeFailsTheExperimentAndNamesTheNearest) {
  struct Row {
    const char *line, *has;
  };
  const Row rows[] = {
      {R"(dynbench: {"metric":"abs_latncy_ms","value":1})", "abs_latency_ms"},
      {R"(dynbench: {"metric":"speedup","value":"fast"})", "wants a number"},
      {R"(dynbench: {"metric":"speedup","value":1e999})", "speedup"},
      {R"(dynbench: {"metric":"graph_breaks","value":1.5})", "whole number"},
      {R"(dynbench: {"metric":"speedup","value":1,"unit":"x"})", "unit"},
      {R"(dynbench: {"sample":"compiled","ns":-1})", "greater than 0"},
      {R"(dynbench: {"sample":"other","ns":1})", "other"},
      {R"(dynbench: {"metrics":1})", "metric"},
      {R"(dynbench: {"phase":"lunch"})", "lunch"},
      {R"(dynbench: {"batch_size":0})", "batch_size"},
      {R"(dynbench: [1,2])", "JSON object"},
      {"dynbench: {\"metric\":", "JSON object"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.line);
    const auto result = ResultOf({R"(dynbench: {"metric":"speedup","value":2})", row.line});
    EXPECT_EQ(result.outcome, Outcome::kFailed);
    EXPECT_EQ(result.status, "report_refused");
    EXPECT_THAT(result.error, HasSubstr(row.has));
    EXPECT_EQ(result.metrics, plan::Metrics());
  }
}

TEST(CommandReport, PhasesAreHeardAndDecideTheBlame) {
  std::vector<Phase> heard;
  CommandReport report([&](Phase phase) { heard.push_back(phase); });
  report.Read(R"(dynbench: {"phase":"compile"})");
  report.Read(R"(dynbench: {"status":"my_own_word"})");
  EXPECT_EQ(heard, std::vector<Phase>{Phase::kCompile});
  EXPECT_EQ(report.MakeResult({}, "", {}).blame, Blame::kCompiler);
}

}  // namespace
}  // namespace dynbench::worker

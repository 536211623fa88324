// Method: rows whose arithmetic is done by hand: a compile time of 10 s that saves 5 ms a call pays
// after 2000 calls, one that saves nothing never does, and a difference within the spread is none.
#include "common/formats/compile_pays.h"

#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;

store::ResultRow Timed(const std::string& model, double eager_ms, double compiled_ms,
                       double spread = 0.01) {
  store::ResultRow row = Measured(model, eager_ms, compiled_ms);
  row.result->metrics.compile_synchronized_s = 10;
  row.result->metrics.eager_spread = row.result->metrics.compiled_spread = spread;
  return row;
}

TEST(Paybacks, ByHand) {
  const std::vector<store::ResultRow> rows = {
      Timed("pays", 15, 10), Timed("costs", 10, 12), Timed("noise", 10, 9.8, 0.05),
      Failed(Waiting("dies", plan::Test::kPerformance), "crash", plan::Phase::kCompile,
             plan::Blame::kCompiler, ""),
      Accuracy("pays", plan::Outcome::kPassed, "pass")};
  const auto paybacks = Paybacks(rows);
  ASSERT_EQ(paybacks.size(), 4U) << "the accuracy row says nothing about time";
  EXPECT_EQ(paybacks[0].pays, Pays::kPays);
  EXPECT_DOUBLE_EQ(*paybacks[0].calls, 2000);
  EXPECT_DOUBLE_EQ(*paybacks[0].running_s, 10 + 2000 * 0.010);
  EXPECT_EQ(paybacks[1].pays, Pays::kCosts);
  EXPECT_FALSE(paybacks[1].calls);
  EXPECT_EQ(paybacks[2].pays, Pays::kNoDifference);
  EXPECT_EQ(paybacks[3].pays, Pays::kUnknown);
}

TEST(Paybacks, SamplesOfSeveralCallsCountEachCall) {
  store::ResultRow row = Timed("m", 150, 100);
  row.experiment.iterations_per_run = 10;
  EXPECT_DOUBLE_EQ(*Paybacks({row})[0].calls, 2000);
}

TEST(Paybacks, AnArtefactMadeAheadOfTimeCostsItsExport) {
  store::ResultRow row = Timed("m", 15, 10);
  row.result->metrics.export_s = 5;
  row.result->metrics.package_s = 10;
  EXPECT_DOUBLE_EQ(*Paybacks({row})[0].calls, 5000);
}

TEST(PaysTable, SoonestFirstAndASum) {
  const std::vector<store::ResultRow> rows = {Timed("slow_gain", 11, 10), Timed("costs", 10, 12),
                                              Timed("fast_gain", 20, 10)};
  const std::string text = PaysTable(JobOf(rows), rows, {});
  EXPECT_LT(text.find("fast_gain"), text.find("slow_gain"));
  EXPECT_LT(text.find("slow_gain"), text.find("costs "));
  EXPECT_THAT(text, HasSubstr("compiling pays for 2 of 3, costs for 1"));
  const auto json = PaysJson(JobOf(rows), rows);
  EXPECT_EQ(json["schema"], "dynbench.pays/1");
  EXPECT_EQ(json["summary"]["pays"], 2);
  EXPECT_EQ(json["models"][0]["break_even_calls"], 1000.0);
  EXPECT_TRUE(json["models"][2]["break_even_calls"].is_null());
}

TEST(PaysTable, NothingMeasuredSaysSo) {
  const std::vector<store::ResultRow> rows = {Waiting("m", plan::Test::kPerformance)};
  EXPECT_THAT(PaysTable(JobOf(rows), rows, {}), HasSubstr("nothing was measured"));
}

}  // namespace
}  // namespace dynbench::formats

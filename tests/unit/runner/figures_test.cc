// Figures of made-up samples, computed by hand here: they are what people compare.
#include "worker/runner/figures.h"

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

TEST(FiguresTest, MediansDecideAndOneSlowSampleDoesNot) {
  const auto figures =
      SampleFigures({{4'000'000, 4'000'000, 90'000'000}, {2'000'000, 1'000'000, 2'000'000}});
  EXPECT_DOUBLE_EQ(figures.at("speedup"), 2);
  EXPECT_DOUBLE_EQ(figures.at("eager_latency_ms"), 4);
  EXPECT_DOUBLE_EQ(figures.at("abs_latency_ms"), 2);
  EXPECT_GT(figures.at("eager_spread"), 0);
}

TEST(FiguresTest, CompilingPaysAfterWhatItSavesACall) {
  EXPECT_DOUBLE_EQ(BreakEvenCalls(10, 0.004, 0.002).value(), 5'000);
}

TEST(FiguresTest, CompilingNeverPaysWhereCompiledIsNotFaster) {
  EXPECT_FALSE(BreakEvenCalls(10, 0.002, 0.002).has_value());
  EXPECT_FALSE(BreakEvenCalls(10, 0.002, 0.003).has_value());
}

}  // namespace
}  // namespace dynbench::runner

// Figures of made-up samples, computed by hand here: they are what people compare.
#include "worker/runner/figures.h"

#include "common/base/pair_blocks.h"
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
  EXPECT_FALSE(figures.contains("eager_page_faults")) << "nobody counted them";
}

TEST(FiguresTest, PageFaultsOfTheCallInTheMiddle) {
  const auto figures = SampleFigures({{10, 10, 10}, {10, 10, 10}, {214, 4672, 4671}, {0, 1, 0}});
  EXPECT_EQ(figures.at("eager_page_faults"), 4671);
  EXPECT_EQ(figures.at("compiled_page_faults"), 0);
}

TEST(FiguresTest, BlocksAreStretchesOfTheSamplesInTheirOrder) {
  const Samples samples{{10, 20, 30, 40, 50, 60, 70}, {1, 2, 3, 4, 5, 6, 7}};
  const auto entries = BlockFigures(samples, 3);  // of two, two and three pairs
  EXPECT_EQ(entries.at(kWindowBlocks), "3");
  EXPECT_EQ(entries.at(kEagerBlocks), "15,35,60");
  EXPECT_EQ(entries.at(kCompiledBlocks), "2,4,6") << "whole nanoseconds";
  EXPECT_EQ(ReadBlockMedians(entries.at(kEagerBlocks).get<std::string>()),
            (std::vector<double>{15, 35, 60}));
  for (const char* none : {"", "1,", ",1", "1,x", "0,1", "1;2"}) {
    EXPECT_TRUE(ReadBlockMedians(none).empty()) << none;
  }
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

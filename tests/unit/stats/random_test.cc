// Method: the first numbers of a fixed seed (they may never change: verdicts rest on them), moments
// of many, and the one way to misuse them.
#include "common/stats/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace dynbench::stats {
namespace {

TEST(Random, OneSeedOneSequenceEverywhere) {
  // std::mt19937_64's 10000th number of its default seed is fixed by the standard.
  Generator generator;
  generator.discard(9999);
  EXPECT_EQ(generator(), 9981545732273789042ULL);
  Generator first(7), second(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Normal(first), Normal(second));
}

TEST(Random, MomentsOfManyNumbers) {
  Generator generator(1);
  double uniform = 0, normal = 0, square = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double u = Uniform(generator), x = Normal(generator);
    ASSERT_TRUE(u >= 0 && u < 1 && std::isfinite(x));
    uniform += u / kCount;
    normal += x / kCount;
    square += x * x / kCount;
  }
  EXPECT_NEAR(uniform, 0.5, 0.005);
  EXPECT_NEAR(normal, 0, 0.015);
  EXPECT_NEAR(square, 1, 0.02);
}

TEST(Random, IndicesCoverTheirRange) {
  Generator generator(2);
  int counts[3] = {};
  for (int i = 0; i < 3000; ++i) ++counts[UniformIndex(generator, 3)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
  EXPECT_THROW(UniformIndex(generator, 0), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

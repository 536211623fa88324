// Method: attempts in two clusters (a user's report), one wild value, and the rate of false alarms
// on distributions with one mode, skewed and heavy-tailed ones among them.
#include "common/stats/bimodal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

using Values = std::vector<double>;

TEST(Bimodal, FiveAttemptsInTwoClusters) {
  BimodalityTest test;
  const Clusters clusters = test.Test(Values{10.0, 14.0, 10.1, 14.1, 10.05});
  EXPECT_TRUE(clusters.bimodal) << clusters.p;
  EXPECT_EQ(clusters.low_count, 3U);
  EXPECT_DOUBLE_EQ(clusters.low, 10.05);
  EXPECT_DOUBLE_EQ(clusters.high, 14.05);
}

TEST(Bimodal, WhatIsNot) {
  BimodalityTest test;
  EXPECT_FALSE(test.Test(Values{10, 10.1, 10.2, 10.3, 50}).bimodal) << "one wild value";
  EXPECT_FALSE(test.Test(Values{1, 2, 1, 2}).bimodal) << "too few";
  EXPECT_FALSE(test.Test(Values{3, 3, 3, 3, 3, 3}).bimodal);
  EXPECT_FALSE(test.Test(Values{10, 10.001, 10, 10.02, 10.02, 10.021}).bimodal)
      << "clusters 0.2 % apart are not worth telling";
}

TEST(Bimodal, OneModeIsRarelyTwo) {
  BimodalityTest test;
  const std::function<double(Generator&)> draws[] = {
      [](Generator& g) { return 10 + Normal(g); },
      [](Generator& g) { return 10 + Uniform(g); },
      [](Generator& g) { return std::exp(0.5 * Normal(g)); },
      [](Generator& g) { return 10 - std::log(1 - Uniform(g)); },
  };
  Generator generator(1985);
  for (size_t kind = 0; kind < 4; ++kind) {
    for (const int count : {6, 30}) {
      int found = 0;
      for (int run = 0; run < 500; ++run) {
        Values values;
        for (int i = 0; i < count; ++i) values.push_back(draws[kind](generator));
        found += test.Test(values).bimodal ? 1 : 0;
      }
      EXPECT_LE(found, 15) << "of 500 at 1 %; kind " << kind << ", " << count << " values";
    }
  }
}

TEST(Bimodal, TwoClocksAreFound) {
  BimodalityTest test;
  Generator generator(6);
  int found = 0;
  for (int run = 0; run < 100; ++run) {
    Values values;
    for (int i = 0; i < 30; ++i) {
      values.push_back((i % 3 == 0 ? 14.8 : 6.2) * (1 + 0.08 * Normal(generator)));
    }
    found += test.Test(values).bimodal ? 1 : 0;
  }
  EXPECT_GE(found, 99);
}

TEST(Bimodal, NanIsRefused) {
  BimodalityTest test;
  EXPECT_THROW(test.Test(Values{1, 2, 3, 4, std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats

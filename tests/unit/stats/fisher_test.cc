// Method: tables whose probabilities can be counted by hand, Fisher's own example, and simulated
// equal shares, of which no more may be rejected than the level says.
#include "common/stats/fisher.h"

#include <gtest/gtest.h>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

TEST(FisherGreater, CountedByHand) {
  EXPECT_NEAR(FisherGreater({3, 4}, {1, 4}), 17.0 / 70, 1e-12) << "the lady tasting tea";
  EXPECT_NEAR(FisherGreater({4, 4}, {0, 4}), 1.0 / 70, 1e-12);
  EXPECT_NEAR(FisherGreater({1, 1}, {0, 9}), 0.1, 1e-12);
  EXPECT_NEAR(FisherGreater({0, 5}, {3, 5}), 1, 1e-12);
}

TEST(FisherGreater, NothingSaysNothing) {
  EXPECT_EQ(FisherGreater({0, 0}, {3, 5}), 1);
  EXPECT_EQ(FisherGreater({3, 5}, {0, 0}), 1);
  EXPECT_NEAR(FisherGreater({0, 1'000'000}, {0, 1'000'000}), 1, 1e-6);
}

TEST(FisherGreater, BadCountsAreRefused) {
  EXPECT_THROW(FisherGreater({2, 1}, {0, 1}), std::invalid_argument);
  EXPECT_THROW(FisherGreater({-1, 1}, {0, 1}), std::invalid_argument);
}

TEST(FisherGreater, EqualSharesAreRarelyRejected) {
  Generator generator(20261130);
  constexpr int kTries = 4000;
  int rejected = 0;
  for (int i = 0; i < kTries; ++i) {
    Share one{0, 80}, other{0, 160};
    for (int64_t k = 0; k < one.of; ++k) one.hits += Uniform(generator) < 0.05 ? 1 : 0;
    for (int64_t k = 0; k < other.of; ++k) other.hits += Uniform(generator) < 0.05 ? 1 : 0;
    if (FisherGreater(one, other) <= 0.05) ++rejected;
  }
  EXPECT_LE(rejected, kTries * 5 / 100);
  EXPECT_GT(rejected, kTries / 100) << "it must be able to reject";
}

}  // namespace
}  // namespace dynbench::stats

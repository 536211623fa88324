// Method: figures whose quotient is known, and each way of never paying.
#include "common/stats/break_even.h"

#include <gtest/gtest.h>

#include <limits>

namespace dynbench::stats {
namespace {

TEST(BreakEven, CompileTimeOverTheTimeSaved) {
  EXPECT_DOUBLE_EQ(*BreakEvenCalls(10, 0.015, 0.010), 2000);
  EXPECT_DOUBLE_EQ(*BreakEvenCalls(0, 2, 1), 0);
  EXPECT_DOUBLE_EQ(*BreakEvenCalls(-1, 2, 1), 0) << "a negative compile time is none";
}

TEST(BreakEven, WhatIsNotFasterNeverPays) {
  EXPECT_FALSE(BreakEvenCalls(10, 1, 1));
  EXPECT_FALSE(BreakEvenCalls(10, 1, 2));
  EXPECT_FALSE(BreakEvenCalls(10, std::numeric_limits<double>::quiet_NaN(), 1));
  EXPECT_FALSE(BreakEvenCalls(std::numeric_limits<double>::infinity(), 2, 1));
}

}  // namespace
}  // namespace dynbench::stats

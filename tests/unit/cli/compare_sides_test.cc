// Method: sides as they are typed, good and bad. Loading them is covered by tests/golden.
#include "tools/dynbenchctl/compare_sides.h"

#include <gtest/gtest.h>

namespace dynbench::cli {
namespace {

TEST(CompareSides, JobsAndEnvironment) {
  const auto one = ParseSide("3");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->jobs, std::vector<JobId>{JobId(3)});
  EXPECT_EQ(one->environment, "");
  const auto several = ParseSide("1,j2,3:nightly");
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(several->jobs.size(), 3U);
  EXPECT_EQ(several->environment, "nightly");
}

TEST(CompareSides, WhatIsNoSide) {
  for (const char* text : {"", "1,", "1,1", "x", "1:", ":env", "1;2", "0"}) {
    EXPECT_FALSE(ParseSide(text).ok()) << text;
  }
}

}  // namespace
}  // namespace dynbench::cli

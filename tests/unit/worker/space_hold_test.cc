// Method: experiments that find a disk full, at given times.
#include "worker/agent/space_hold.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

using testing::HasSubstr;

TEST(SpaceHold, HoldsForAWhileThatDoublesUpToItsLimit) {
  SpaceHold hold;
  EXPECT_EQ(hold.Reason(0), "");
  int64_t now_ms = 1'000;
  int64_t expected_ms = SpaceHold::kFirstMs;
  for (int failure = 0; failure < 20; ++failure) {
    hold.Failed("OSError: No space left on device", now_ms);
    EXPECT_THAT(hold.Reason(now_ms + expected_ms - 1), HasSubstr("No space left on device"));
    EXPECT_EQ(hold.Reason(now_ms + expected_ms), "");
    now_ms += expected_ms;
    expected_ms = std::min(2 * expected_ms, SpaceHold::kLastMs);
  }
}

TEST(SpaceHold, LanesThatFindItFullTogetherAreOneFailure) {
  SpaceHold hold;
  for (int lane = 0; lane < 8; ++lane) hold.Failed("full", lane);
  EXPECT_EQ(hold.Reason(SpaceHold::kFirstMs), "");
}

TEST(SpaceHold, BeginsAnewAfterAnExperimentThatWorkedButNotAfterOneBesideIt) {
  SpaceHold hold;
  hold.Failed("full", 0);
  hold.Worked(1);
  EXPECT_NE(hold.Reason(2), "") << "a small one may have fitted";
  hold.Failed("full", SpaceHold::kFirstMs);
  EXPECT_NE(hold.Reason(2 * SpaceHold::kFirstMs), "") << "the second in a row";
  hold.Worked(3 * SpaceHold::kFirstMs);
  hold.Failed("full", 3 * SpaceHold::kFirstMs);
  EXPECT_EQ(hold.Reason(4 * SpaceHold::kFirstMs), "");
}

TEST(SpaceHold, AnOperatorEndsIt) {
  SpaceHold hold;
  hold.Failed("full", 0);
  hold.Release();
  EXPECT_EQ(hold.Reason(1), "");
}

}  // namespace
}  // namespace dynbench::worker

// Method: looks at windows, given by hand on both sides of the bounds.
#include "worker/runner/disturbance.h"

#include "common/base/window_flags.h"
#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

WindowLook Quiet() {
  return {.foreign_share = 0.02,
          .host_canary_before_us = 300,
          .host_canary_after_us = 310,
          .launch_canary_before_us = 6.2,
          .launch_canary_after_us = 6.4,
          .seconds = 2};
}

TEST(Disturbance, AQuietWindowHasNone) {
  EXPECT_EQ(Disturbance(Quiet()), "");
  EXPECT_EQ(Disturbance(WindowLook()), "") << "without canaries";
}

TEST(Disturbance, ForeignLoadAndAnotherPaceAreNamed) {
  WindowLook look = Quiet();
  look.foreign_share = 0.31;
  EXPECT_EQ(Disturbance(look), "others had 31 % of the measuring cores");
  look = Quiet();
  look.launch_canary_after_us = 14.8;
  EXPECT_EQ(Disturbance(look), "the launch canary went from 6.2 to 14.8 us");
  look.host_canary_after_us = 100;
  EXPECT_EQ(
      Disturbance(look),
      "the host canary went from 300.0 to 100.0 us; the launch canary went from 6.2 to 14.8 us");
}

TEST(Disturbance, TheQuieterPassIsKept) {
  WindowLook loud = Quiet(), flipped = Quiet();
  loud.foreign_share = 0.2;             // twice the bound
  flipped.launch_canary_after_us = 12;  // almost four times
  EXPECT_TRUE(Quieter(Quiet(), loud));
  EXPECT_TRUE(Quieter(loud, flipped));
  EXPECT_FALSE(Quieter(flipped, loud));
}

TEST(Disturbance, IsFlagsForProgramsAndWordsForPeople) {
  WindowLook look = Quiet();
  EXPECT_EQ(DisturbanceFlags(look), 0);
  look.cpu_throttles = 0;
  look.cpu_clock_mhz = 2'400;
  look.host_load = 1;
  look.busiest = "cc1plus (pid 7)";
  EXPECT_EQ(DisturbanceFlags(look), 0) << "told, and no disturbance of these cores";
  look.foreign_share = 0.31;
  EXPECT_EQ(DisturbanceFlags(look), kForeignLoad);
  EXPECT_EQ(Disturbance(look), "others had 31 % of the measuring cores, busiest cc1plus (pid 7)");
  look.cpu_throttles = 3;
  look.told_flags = kUnfrozenLane | kDeviceThrottled;
  EXPECT_EQ(DisturbanceFlags(look), kForeignLoad | kCpuThrottled | kDeviceThrottled)
      << "a lane that runs on is no matter of one pass";
  look.foreign_share = 0;
  EXPECT_EQ(Disturbance(look), "the measuring cores were throttled, the device was throttled");
}

TEST(Disturbance, AThrottledPassIsNeverTheQuieterOne) {
  WindowLook loud = Quiet(), throttled = Quiet();
  loud.foreign_share = 0.9;
  throttled.told_flags = kForeignOnDevice;
  EXPECT_TRUE(Quieter(loud, throttled));
}

TEST(Disturbance, WhatThrottlesTwiceAndAloneIsTheModelsOwnWork) {
  WindowLook throttled = Quiet(), flipped = Quiet();
  throttled.told_flags = kDeviceThrottled;
  flipped.told_flags = kDeviceThrottled;
  flipped.launch_canary_after_us = 12;
  EXPECT_TRUE(ThrottledByItself(throttled, throttled));
  EXPECT_FALSE(ThrottledByItself(throttled, flipped))
      << "without the flip a further pass may be quiet";
  EXPECT_FALSE(ThrottledByItself(flipped, throttled));
  EXPECT_FALSE(ThrottledByItself(Quiet(), Quiet()));
}

TEST(Disturbance, OfSeveralBlocksSharesAreMeansOverTimeAndWhatHappenedAddsUp) {
  WindowLook first, second;
  first.seconds = 1;
  first.foreign_share = 0.4;
  first.host_load = 0.8;
  first.cpu_throttles = 1;
  first.host_canary_before_us = 300;
  second.seconds = 3;
  second.host_load = 0.4;
  second.cpu_throttles = 2;
  second.host_canary_after_us = 600;
  const WindowLook all = Together({first, second});
  EXPECT_DOUBLE_EQ(all.seconds, 4);
  EXPECT_DOUBLE_EQ(all.foreign_share, 0.1);
  EXPECT_DOUBLE_EQ(all.host_load.value(), 0.5);
  EXPECT_EQ(all.cpu_throttles.value(), 3);
  EXPECT_EQ(all.host_canary_before_us, 300);
  EXPECT_EQ(all.host_canary_after_us, 600);
  EXPECT_FALSE(all.cpu_clock_mhz.has_value());
  EXPECT_EQ(Together({first}).foreign_share, first.foreign_share);
}

}  // namespace
}  // namespace dynbench::runner

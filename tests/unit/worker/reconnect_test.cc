// Method: the delays before a reconnect at both ends of their spread. (Sessions themselves:
// tests/integration.)
#include "proto/dynbench/reconnect.h"

#include "gtest/gtest.h"

namespace dynbench::proto {
namespace {

TEST(ReconnectDelay, GrowsIsCappedAndSpread) {
  EXPECT_LE(ReconnectDelayMs(0, 1), 100);
  for (int failures = 0; failures < 1'000; ++failures) {
    EXPECT_GE(ReconnectDelayMs(failures, 0), 50);
    EXPECT_LE(ReconnectDelayMs(failures, 1), 1'000);
    EXPECT_LT(ReconnectDelayMs(failures, 0), ReconnectDelayMs(failures, 1));
  }
}

}  // namespace
}  // namespace dynbench::proto

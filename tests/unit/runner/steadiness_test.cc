// Method: readings given by hand, and the real piece of work for its order of magnitude.
#include "worker/runner/steadiness.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

CanaryReading Await(const std::vector<double>& readings, const CanaryLimits& limits, int* pauses) {
  size_t next = 0;
  return AwaitSteady(
      limits, [&] { return readings[next++ % readings.size()]; }, [&](int) { ++*pauses; });
}

TEST(Steadiness, ASetThatAgreesIsTakenAtOnce) {
  int pauses = 0;
  const CanaryReading reading = Await({10, 10.5, 9.8}, {.readings = 3}, &pauses);
  EXPECT_TRUE(reading.steady);
  EXPECT_DOUBLE_EQ(reading.median, 10);
  EXPECT_NEAR(reading.spread, 0.07, 1e-9);
  EXPECT_EQ(reading.waits, 0);
  EXPECT_EQ(pauses, 0);
}

TEST(Steadiness, AHostThatSettlesIsWaitedForAndItsOldPaceForgotten) {
  int pauses = 0;
  const CanaryReading reading = Await({14.8, 6.2, 14.8, 6.2, 6.2, 6.3}, {.readings = 3}, &pauses);
  EXPECT_TRUE(reading.steady);
  EXPECT_DOUBLE_EQ(reading.median, 6.2);
  EXPECT_EQ(reading.waits, 1);
  EXPECT_EQ(pauses, 1);
}

TEST(Steadiness, PatienceHasAnEnd) {
  int pauses = 0;
  const CanaryReading reading = Await({1, 2}, {.readings = 2, .most_waits = 4}, &pauses);
  EXPECT_FALSE(reading.steady);
  EXPECT_EQ(reading.waits, 4);
  EXPECT_EQ(pauses, 4);
}

TEST(Steadiness, TheHostsPieceOfWorkTakesAFractionOfATimeSlice) {
  double fastest = HostCanaryUs();
  for (int i = 0; i < 20; ++i) fastest = std::min(fastest, HostCanaryUs());
  EXPECT_GT(fastest, 20);
  EXPECT_LT(fastest, 20'000);
}

}  // namespace
}  // namespace dynbench::runner

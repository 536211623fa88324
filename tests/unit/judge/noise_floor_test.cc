// Method: processes of known figures on two hosts and two builds; what is learned of each place,
// and that several statements of one place add up.
#include "common/judge/noise_floor.h"

#include <cmath>

#include "common/base/window_flags.h"
#include "gtest/gtest.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

std::vector<Process> On(const std::string& host, const std::string& build,
                        const std::vector<double>& compiled_ms) {
  std::vector<Process> processes;
  for (const double ms : compiled_ms) {
    processes.push_back(Measured("m", 20, ms));
    processes.back().row.worker_host = host;
    processes.back().build["environment"] = build;
  }
  return processes;
}

std::vector<Process> Joined(std::vector<Process> a, const std::vector<Process>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<NoiseFloor> OfCompiled(const std::vector<NoiseFloor>& floors) {
  std::vector<NoiseFloor> found;
  for (const NoiseFloor& floor : floors) {
    if (floor.metric == Metric::kCompiledLatency) found.push_back(floor);
  }
  return found;
}

TEST(NoiseFloor, IsOfOneHostAndAroundEachBuildsOwnMean) {
  // The second build is twice as slow and repeats itself exactly: no spread comes from the
  // difference.
  const auto floors = OfCompiled(
      FloorsOf(Joined(Joined(On("a", "x", {10, 10 * std::exp(0.02)}), On("a", "y", {20, 20})),
                      On("b", "x", {10, 10}))));
  ASSERT_EQ(floors.size(), 2u);
  EXPECT_EQ(floors[0].worker_host, "a");
  EXPECT_EQ(floors[0].processes, 4);
  EXPECT_DOUBLE_EQ(floors[0].between.degrees_of_freedom, 2);
  EXPECT_NEAR(floors[0].between.variance, 0.0002 / 2, 1e-9);
  EXPECT_EQ(floors[1].worker_host, "b");
  EXPECT_DOUBLE_EQ(floors[1].between.variance, 0);
}

TEST(NoiseFloor, OneProcessSaysNothing) { EXPECT_TRUE(FloorsOf(On("a", "x", {10})).empty()); }

TEST(NoiseFloor, WhatFailedIsNotNoise) {
  auto processes = On("a", "x", {10, 10.1});
  processes[1].row.result->outcome = plan::Outcome::kFailed;
  EXPECT_TRUE(FloorsOf(processes).empty());
}

TEST(NoiseFloor, CompilingBesideAStrangerIsNotNoise) {
  auto processes = On("a", "x", {10, 10.1, 10.2});
  for (Process& process : processes) process.row.result->metrics.compilation_latency_s = 20;
  processes[0].row.result->metrics.compilation_latency_s = 60;
  processes[0].row.result->metrics.window_flags = kForeignLoadCompiling;
  for (const NoiseFloor& floor : FloorsOf(processes)) {
    const bool seconds = floor.metric == Metric::kCompileSeconds;
    EXPECT_EQ(floor.processes, seconds ? 2 : 3) << ToString(floor.metric);
    if (seconds) {
      EXPECT_DOUBLE_EQ(floor.between.variance, 0);
    }
  }
}

TEST(NoiseFloor, StatementsOfOnePlaceAddUp) {
  const stats::Variance pooled = Pool({{0.04, 1}, {0.01, 3}, {}});
  EXPECT_DOUBLE_EQ(pooled.degrees_of_freedom, 4);
  EXPECT_NEAR(pooled.variance, (0.04 + 0.03) / 4, 1e-12);
  EXPECT_DOUBLE_EQ(Pool({}).degrees_of_freedom, 0);
}

}  // namespace
}  // namespace dynbench::judge

// Method: experiments and results as they are spelled by users and by the runner.
#include "worker/agent/slot_sharing.h"

#include "common/base/window_flags.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(SlotSharing, WhatSearchesKernelsOwnsTheSlot) {
  plan::Experiment experiment;
  EXPECT_FALSE(OwnsSlot(experiment));
  experiment.options.compile_mode = "reduce-overhead";
  EXPECT_FALSE(OwnsSlot(experiment));
  experiment.options.compile_mode = "max-autotune-no-cudagraphs";
  EXPECT_TRUE(OwnsSlot(experiment));
  experiment = {};
  experiment.options.max_autotune = true;
  EXPECT_TRUE(OwnsSlot(experiment));
  experiment = {};
  experiment.world_size = 2;
  EXPECT_TRUE(OwnsSlot(experiment));
  experiment = {};
  experiment.options.inductor_config = {{"max_autotune_gemm", "False"}, {"freezing", "True"}};
  EXPECT_FALSE(OwnsSlot(experiment));
  experiment.options.inductor_config["max_autotune_gemm"] = "True";
  EXPECT_TRUE(OwnsSlot(experiment));
  experiment = {};
  experiment.set_env["TORCHINDUCTOR_COORDINATE_DESCENT_TUNING"] = "1";
  EXPECT_TRUE(OwnsSlot(experiment));
}

TEST(SlotSharing, OnlyAFailureForWantOfMemoryIsOne) {
  plan::Result result;
  result.outcome = plan::Outcome::kFailed;
  result.status = "fail_to_run";
  EXPECT_FALSE(RanOutOfMemory(result));
  result.error = "RuntimeError: CUDA error: out of memory";
  EXPECT_TRUE(RanOutOfMemory(result));
  result.error.clear();
  result.status = "eager_1st_run_OOM";
  EXPECT_TRUE(RanOutOfMemory(result));
  result.outcome = plan::Outcome::kPassed;
  EXPECT_FALSE(RanOutOfMemory(result));
}

TEST(SlotSharing, AClockIsAMetricAndWhatSlowsIsANote) {
  plan::Result result;
  AddDeviceState(std::nullopt, &result);
  EXPECT_FALSE(result.metrics.device_clock_mhz);
  AddDeviceState(GpuState{1'500, 0}, &result);
  EXPECT_EQ(result.metrics.device_clock_mhz, 1'500);
  EXPECT_EQ(result.metrics.device_throttle_reasons, 0);
  EXPECT_TRUE(result.notes.empty());
  AddDeviceState(GpuState{900, 0x84}, &result);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("software power cap, hardware power brake"), std::string::npos);
}

TEST(SlotSharing, LanesShareCoresWhereThereAreTooFew) {
  EXPECT_FALSE(LanesShareCores({}, 1));
  EXPECT_TRUE(LanesShareCores({}, 2)) << "each has all of the slot's";
  EXPECT_FALSE(LanesShareCores({{0, 1}, {2, 3}}, 2));
  EXPECT_TRUE(LanesShareCores({{0, 1}, {1, 2}}, 2));
}

TEST(SlotSharing, WhatWasWrongWithTheWindowIsFlags) {
  plan::Result result;
  AddWindowFlags(0, &result);
  EXPECT_FALSE(result.metrics.window_flags) << "nobody has looked";
  result.metrics.window_flags = kForeignLoad;  // the runner's
  AddDeviceState(GpuState{900, 0x80, 2}, &result);
  EXPECT_EQ(result.metrics.window_flags, kForeignLoad | kDeviceThrottled | kForeignOnDevice);
  EXPECT_EQ(result.metrics.device_foreign_processes, 2);
  AddWindowFlags(kUnfrozenLane, &result);
  EXPECT_EQ(*result.metrics.window_flags & kDisturbsRound, kUnfrozenLane | kForeignOnDevice);
  EXPECT_EQ(FlagsOf(GpuState{1'500, 0x03, 0}), 0);
}

}  // namespace
}  // namespace dynbench::worker

// Method: slot_fixture.h; several lanes, of which the test decides who asks for what and when.
#include "absl/strings/match.h"
#include "common/base/window_flags.h"
#include "tests/unit/worker/slot_fixture.h"

namespace dynbench::worker {
namespace {

plan::Result OutOfMemory() {
  plan::Result result;
  result.outcome = plan::Outcome::kFailed;
  result.status = "OOM";
  result.error = "CUDA out of memory";
  return result;
}

TEST_F(SlotTest, EveryLaneKeepsItsCoresAndTheOneThatIsFreeIsTaken) {
  Make(2, [](SlotShape* shape) {
    shape->cores = {0, 1, 2, 3, 4};
    shape->lane_cores = {{1, 2}, {3, 4}};
  });
  Lease(7, {1, 2, 3});
  UntilRunning(2);
  EXPECT_EQ(engine_.running[1].first.cores, (std::vector<int>{1, 2}));
  EXPECT_EQ(engine_.running[2].first.cores, (std::vector<int>{3, 4}));
  EXPECT_EQ(engine_.running[1].first.lanes, 2);
  engine_.Pass(1);
  UntilRunning(3);
  EXPECT_EQ(engine_.running[3].first.cores, (std::vector<int>{1, 2}));
  engine_.Pass(2);
  engine_.Pass(3);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, ALongModelHasTheCoresOfSeveralLanesUntilItEnds) {
  Make(8, [](SlotShape* shape) {
    for (int cpu = 0; cpu < 8; ++cpu) shape->lane_cores.push_back({cpu});
  });
  Lease(7, {1});
  LeaseOf(8, {2}, {}, {}, /*compile_weight=*/3.4);
  Lease(9, {3, 4, 5, 6, 7});
  LeaseOf(10, {8}, {}, {}, /*compile_weight=*/3.4);
  Lease(11, {9});
  UntilRunning(6);
  EXPECT_EQ(engine_.running[1].first.cores, (std::vector<int>{0}));
  EXPECT_EQ(engine_.running[2].first.cores, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(engine_.running[6].first.cores, (std::vector<int>{7}));
  engine_.Pass(1);
  UntilRunning(7);
  EXPECT_EQ(engine_.running[7].first.cores, (std::vector<int>{0}));
  engine_.Pass(3);
  engine_.Pass(4);
  Until([&] { return finished_.size() == 3; });
  EXPECT_EQ(engine_.running.count(8), 0u) << "two lanes are free, and it takes three";
  EXPECT_EQ(engine_.running.count(9), 0u) << "nobody overtakes it";
  engine_.Pass(5);
  UntilRunning(8);
  EXPECT_EQ(engine_.running[8].first.cores, (std::vector<int>{4, 5, 6}));
  engine_.Pass(2);
  UntilRunning(9);
  EXPECT_EQ(engine_.running[9].first.cores, (std::vector<int>{1}));
  for (const int64_t id : {6, 7, 8, 9}) engine_.Pass(id);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, AnExperimentThatSearchesKernelsOwnsTheSlotAndAllItsCores) {
  Make(2, [](SlotShape* shape) { shape->lane_cores = {{0}, {1}}; });
  plan::Experiment search;
  search.options.max_autotune = true;
  Lease(7, {1});
  LeaseOf(8, {2}, search);
  Lease(9, {3, 4});
  UntilRunning(1);
  // The second lane is free, and stays so until the first one is done.
  bool granted = false;
  engine_.running[1].second.window(DeviceUse::kMeasure, [&](int64_t) { granted = true; });
  Until([&] { return granted; });
  engine_.running[1].second.window_done();
  EXPECT_EQ(engine_.running.size(), 1u);
  engine_.Pass(1);
  UntilRunning(2);
  EXPECT_EQ(engine_.running[2].first.cores, (std::vector<int>{0, 1}));
  EXPECT_EQ(engine_.running[2].first.lanes, 1) << "needs no windows for its benchmarks";
  EXPECT_EQ(engine_.running.size(), 1u);
  engine_.Pass(2);
  UntilRunning(4);
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{1, 2, 3, 4}));
  engine_.Pass(3);
  engine_.Pass(4);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, WhoRunsOutOfMemoryBesideOthersRunsAgainAloneBeforeItIsSaid) {
  Make(2, [](SlotShape* shape) { shape->lane_cores = {{0}, {1}}; });
  Lease(7, {1, 2, 3});
  UntilRunning(2);
  engine_.Finish(2, OutOfMemory());
  // Nobody begins meanwhile, and it waits for the one that runs.
  engine_.Pass(1);
  UntilRunning(2);
  EXPECT_EQ(engine_.running.size(), 1u);
  EXPECT_EQ(engine_.running[2].first.cores, (std::vector<int>{1})) << "those of its lane";
  EXPECT_TRUE(fs::is_empty(engine_.running[2].first.cache_dir));
  EXPECT_EQ(finished_.size(), 1u);
  engine_.Finish(2, OutOfMemory());
  UntilRunning(3);
  Until([&] { return finished_.size() == 2; });
  EXPECT_EQ(finished_[1].result().status(), "OOM");
  ASSERT_EQ(finished_[1].result().notes_size(), 1);
  EXPECT_TRUE(absl::StrContains(finished_[1].result().notes(0), "alone"));
  // One that was alone from its beginning has nobody to blame.
  engine_.Finish(3, OutOfMemory());
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(finished_.size(), 3u);
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{1, 2, 2, 3}));
}

TEST_F(SlotTest, WhatWasWrongWithAFirstTryIsNotInTheRowOfTheSecond) {
  Make(2, [](SlotShape* shape) { shape->device_uuid = "GPU-1"; });
  gpu_state_ = GpuState{900, 0x20};
  engine_.freezes = false;
  Lease(7, {1, 2});
  UntilRunning(2);
  const AttemptObserver observer = engine_.running[2].second;
  observer.phase(plan::Phase::kMeasure);
  for (const DeviceUse use : {DeviceUse::kBenchmark, DeviceUse::kMeasure}) {
    int64_t flags = 0;
    observer.window(use, [&](int64_t given) { flags = given; });
    Until([&] { return flags == kUnfrozenLane; });
    observer.window_done();
  }
  engine_.Finish(2, OutOfMemory());
  engine_.Pass(1);
  UntilRunning(2);
  engine_.Pass(2);
  Until([&] { return finished_.size() == 2; });
  EXPECT_FALSE(finished_[1].result().metrics().has_window_flags());
  EXPECT_FALSE(finished_[1].result().metrics().has_device_clock_mhz());
  ASSERT_EQ(finished_[1].result().notes_size(), 1);
  EXPECT_TRUE(absl::StrContains(finished_[1].result().notes(0), "alone"));
}

TEST_F(SlotTest, WhatWasWrongWithAPreparationIsNotInTheRow) {
  Make(2);
  Lease(7, {1});
  Lease(8, {2}, plan::Start::kWarm);
  UntilRunning(1);
  UntilRunning(2);
  EXPECT_TRUE(engine_.running[2].first.prepare);
  engine_.freezes = false;
  int64_t flags = 0;
  engine_.running[2].second.window(DeviceUse::kBenchmark, [&](int64_t given) { flags = given; });
  Until([&] { return flags == kUnfrozenLane; });
  engine_.running[2].second.window_done();
  WriteText(engine_.running[2].first.cache_dir + "/graph", "compiled");
  engine_.Pass(2);
  UntilRunning(2);
  EXPECT_FALSE(engine_.running[2].first.prepare);
  engine_.Pass(2);
  Until([&] { return finished_.size() == 1; });
  EXPECT_FALSE(finished_[0].result().metrics().has_window_flags());
  EXPECT_EQ(finished_[0].result().notes_size(), 1) << "that it was prepared";
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, LanesOfADeviceAreFilledWithWhatFits) {
  Make(2, [](SlotShape* shape) {
    shape->device_index = 0;
    shape->memory_bytes = int64_t{20} << 30;
  });
  plan::Experiment large;
  large.model = "large";
  plan::Result measured;
  measured.outcome = plan::Outcome::kPassed;
  measured.metrics.eager_peak_memory_bytes = 9.0 * (1 << 30);
  LeaseOf(7, {1}, large);
  UntilRunning(1);
  engine_.Finish(1, measured);
  Until([&] { return slot_->idle(); });
  LeaseOf(8, {2, 3}, large);  // 11 GiB each with what a context takes
  UntilRunning(2);
  engine_.Finish(2, measured);
  UntilRunning(3);
  EXPECT_EQ(engine_.running.size(), 1u);
  Lease(9, {4});  // never seen: assumed to fit
  UntilRunning(4);
  EXPECT_EQ(engine_.running.size(), 2u);
  engine_.Pass(3);
  engine_.Pass(4);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, TheClockOfTheDeviceInTheWindowIsInTheRow) {
  Make(2, [](SlotShape* shape) { shape->device_uuid = "GPU-1"; });
  gpu_state_ = GpuState{1'980, 0x20};
  Lease(7, {1});
  UntilRunning(1);
  const AttemptObserver observer = engine_.running.at(1).second;
  for (const plan::Phase phase : {plan::Phase::kCompile, plan::Phase::kMeasure}) {
    bool granted = false;
    observer.phase(phase);
    observer.window(DeviceUse::kMeasure, [&](int64_t) { granted = true; });
    Until([&] { return granted; });
    observer.window_done();
  }
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(gpu_asked_, 1) << "not after the window of an autotuning";
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].result().metrics().device_clock_mhz(), 1'980);
  EXPECT_EQ(finished_[0].result().metrics().device_throttle_reasons(), 0x20);
  ASSERT_EQ(finished_[0].result().notes_size(), 1);
  EXPECT_TRUE(absl::StrContains(finished_[0].result().notes(0), "thermal"));
}

TEST_F(SlotTest, WhoCompilesOffTheDeviceGoesOnWhileKernelsAreCompared) {
  Make(3);
  Lease(7, {1, 2, 3});
  Until([&] { return engine_.running.size() == 3; });
  std::vector<int64_t> granted;
  const auto ask = [&](int64_t id, DeviceUse use) {
    engine_.running[id].second.window(use, [&, id](int64_t) { granted.push_back(id); });
  };
  const auto until = [&](std::vector<int64_t> ids) { Until([&] { return granted == ids; }); };
  engine_.running[2].second.off_device();
  ask(1, DeviceUse::kBenchmark);
  until({1});
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{3}));
  // One that says so just before it is stopped goes on as well.
  engine_.running[3].second.off_device();
  Until([&] { return engine_.frozen.empty(); });
  // It may use the device again when nobody has it alone any more.
  ask(2, DeviceUse::kReturn);
  ask(3, DeviceUse::kMeasure);
  engine_.running[1].second.window_done();
  until({1, 2, 3});
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{1, 2})) << "samples are taken with nobody beside";
  engine_.running[3].second.window_done();
  Until([&] { return engine_.frozen.empty(); });
  // Stopped for samples, it goes on when kernels are compared next.
  ask(2, DeviceUse::kMeasure);
  until({1, 2, 3, 2});
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{1, 3}));
  ask(1, DeviceUse::kBenchmark);
  engine_.running[2].second.window_done();
  until({1, 2, 3, 2, 1});
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{2})) << "3 never came back to the device";
  engine_.running[1].second.window_done();
  for (const int64_t id : {1, 2, 3}) engine_.Pass(id);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, WithoutFreezingLanesRunOnAndTheRowSaysSo) {
  Make(2, [](SlotShape* shape) { shape->freeze = false; });
  Lease(7, {1, 2});
  UntilRunning(2);
  bool granted = false;
  engine_.running[1].second.window(DeviceUse::kMeasure, [&](int64_t) { granted = true; });
  Until([&] { return granted; });
  EXPECT_TRUE(engine_.frozen.empty());
  engine_.running[1].second.window_done();
  engine_.Pass(1);
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_[0].result().notes_size(), 1);
  EXPECT_TRUE(absl::StrContains(finished_[0].result().notes(0), "not frozen"));
}

TEST_F(SlotTest, ALaneThatRunsOnIsToldAndTheNextWindowForgetsIt) {
  Make(2);
  Lease(7, {1, 2});
  UntilRunning(2);
  const AttemptObserver observer = engine_.running[1].second;
  const auto window = [&](bool freezes) {
    engine_.freezes = freezes;
    int64_t flags = -1;
    observer.window(DeviceUse::kMeasure, [&](int64_t given) { flags = given; });
    Until([&] { return flags >= 0; });
    observer.window_done();
    return flags;
  };
  EXPECT_EQ(window(false), kUnfrozenLane);
  EXPECT_EQ(window(true), 0);
  engine_.Pass(1);
  Until([&] { return finished_.size() == 1; });
  EXPECT_FALSE(finished_[0].result().metrics().has_window_flags()) << "it was taken again";
  EXPECT_EQ(finished_[0].result().notes_size(), 0);
  Lease(8, {3});
  UntilRunning(3);
  const AttemptObserver other = engine_.running[3].second;
  engine_.freezes = false;
  bool given = false;
  other.window(DeviceUse::kBenchmark, [&](int64_t) { given = true; });
  Until([&] { return given; });
  other.window_done();
  engine_.Pass(3);
  Until([&] { return finished_.size() == 2; });
  EXPECT_EQ(finished_[1].result().metrics().window_flags(), kUnfrozenLane) << "of the compiler's";
  EXPECT_TRUE(absl::StrContains(finished_[1].result().notes(0), "not frozen"));
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, ALaneThatBeginsToRunInAWindowIsInTheRowOfItsHolder) {
  Make(2);
  Lease(7, {1, 2});
  UntilRunning(2);
  int64_t flags = -1;
  engine_.running[1].second.window(DeviceUse::kMeasure, [&](int64_t given) { flags = given; });
  Until([&] { return flags == 0; });
  engine_.running[2].second.runs_on();
  engine_.running[1].second.window_done();
  engine_.Pass(1);
  Until([&] { return finished_.size() == 1; });
  EXPECT_EQ(finished_[0].result().metrics().window_flags(), kUnfrozenLane);
  engine_.Pass(2);
  Until([&] { return finished_.size() == 2; });
  EXPECT_FALSE(finished_[1].result().metrics().has_window_flags());
}

TEST_F(SlotTest, HowTheDeviceIsIsToldWhileTheWindowLasts) {
  Make(1, [](SlotShape* shape) {
    shape->device_uuid = "GPU-1";
    shape->tuning = "turbo=off";
  });
  gpu_state_ = GpuState{900, 0x20, 1};
  Lease(7, {1});
  UntilRunning(1);
  std::optional<WindowState> state;
  engine_.running[1].second.look([&](const WindowState& told) { state = told; });
  Until([&] { return state.has_value(); });
  EXPECT_EQ(state->flags, kDeviceThrottled | kForeignOnDevice);
  EXPECT_EQ(state->device_clock_mhz, 900);
  EXPECT_EQ(state->device_foreign_processes, 1);
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(finished_[0].result().in_force().at("host.tuning"), "turbo=off");
}

TEST_F(SlotTest, WhatWasMeasuredWhileTheHostChangedIsRepeated) {
  host_settings_ = {{"turbo", "on"}};
  plan::Experiment timed;
  timed.test = plan::Test::kPerformance;
  LeaseOf(7, {1, 2}, timed);
  UntilRunning(1);
  host_settings_["turbo"] = "off";
  engine_.Pass(1);
  Until([&] { return returned_.count(1) > 0; });
  EXPECT_EQ(returned_[1],
            "the host was changed while it was measured: turbo was on, is off (trouble)");
  UntilRunning(2);
  engine_.Pass(2);
  Until([&] { return finished_.size() == 1; });
  timed.test = plan::Test::kAccuracy;
  LeaseOf(8, {3}, timed);
  UntilRunning(3);
  host_settings_.clear();
  engine_.Pass(3);
  Until([&] { return finished_.size() == 2; });
}

}  // namespace
}  // namespace dynbench::worker

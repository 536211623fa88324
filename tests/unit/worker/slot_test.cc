// Method: slot_fixture.h.
#include "worker/agent/slot.h"

#include <signal.h>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/slot_fixture.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

TEST_F(SlotTest, RunsItsLeaseInOrderOneAfterTheOtherAndClearsUp) {
  Lease(7, {3, 1, 2});
  Lease(7, {3, 1, 2});  // sent again after a reconnect
  for (const int64_t id : {3, 1, 2}) {
    UntilRunning(id);
    EXPECT_EQ(engine_.running.size(), 1u);
    const AttemptSpec& spec = engine_.running.begin()->second.first;
    EXPECT_TRUE(fs::is_empty(spec.work_dir));
    EXPECT_TRUE(fs::is_empty(spec.cache_dir));
    engine_.Pass(id);
  }
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(engine_.order, (std::vector<int64_t>{3, 1, 2}));
  ASSERT_EQ(finished_.size(), 3u);
  EXPECT_EQ(finished_[0].log(), "the log");
  Until([&] { return fs::is_empty(dir_ / "work"); });
}

TEST_F(SlotTest, AResultOfAnEnvironmentThatChangedMeanwhileIsGivenBack) {
  WriteText(dir_ / "version.py", "git_version = 'abc'");
  const auto files = HashFiles(dir_.path(), {"version.py"});
  ASSERT_TRUE(files.ok()) << files.status();
  environment_files_ = *files;
  Lease(7, {1, 2});
  UntilRunning(1);
  engine_.Pass(1);
  UntilRunning(2);
  WriteText(dir_ / "version.py", "git_version = 'abcd'");
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].attempt().experiment(), 1);
  EXPECT_NE(returned_[2].find("changed during the attempt"), std::string::npos) << returned_[2];
  EXPECT_NE(returned_[2].find("version.py"), std::string::npos) << returned_[2];
  EXPECT_NE(returned_[2].find("(trouble)"), std::string::npos) << returned_[2];
}

TEST_F(SlotTest, WhatAnAttemptLeftForPeopleIsMovedAndNamedInItsResult) {
  Lease(7, {1});
  UntilRunning(1);
  const std::string work_dir = engine_.running.at(1).first.work_dir;
  fs::create_directories(work_dir + "/artifacts");
  WriteText(work_dir + "/artifacts/repro.py", "import torch");
  plan::Result result;
  result.outcome = plan::Outcome::kFailed;
  result.artifacts = {work_dir + "/artifacts/repro.py", "/elsewhere/kept"};
  engine_.Finish(1, result);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  const auto& artifacts = finished_[0].result().artifacts();
  ASSERT_EQ(artifacts.size(), 2);
  EXPECT_EQ(artifacts[0], "/elsewhere/kept");
  EXPECT_EQ(artifacts[1], dir_ / "artifacts/1.7/run/repro.py");
  EXPECT_TRUE(fs::exists(artifacts[1]));
}

TEST_F(SlotTest, TheCacheOfAFailureIsKeptOnRequestAndThatOfASuccessIsNot) {
  for (const bool fails : {true, false}) {
    Lease(fails ? 7 : 8, {1}, plan::Start::kCold, "default", {"cache"});
    UntilRunning(1);
    WriteText(engine_.running.at(1).first.cache_dir + "/kernel.so", "code");
    plan::Result result;
    result.outcome = fails ? plan::Outcome::kFailed : plan::Outcome::kPassed;
    engine_.Finish(1, result);
    Until([&] { return slot_->idle(); });
    EXPECT_EQ(finished_.back().result().artifacts().size(), fails ? 1 : 0);
  }
}

TEST_F(SlotTest, LearnedLimitsReachTheEngineAndOneThatIsHitIsNoResult) {
  v1::PhaseLimit limit, unknown;
  limit.set_phase("compile");
  limit.set_limit_ms(80'000);
  limit.set_origin("4 times the longest of 5 runs");
  unknown.set_phase("of_a_newer_coordinator");
  unknown.set_limit_ms(1);
  Lease(7, {1, 2}, plan::Start::kCold, "default", {}, {limit, unknown});
  UntilRunning(1);
  auto node = engine_.running.extract(1);
  auto& [spec, observer] = node.mapped();
  EXPECT_EQ(spec.phase_limits_ms,
            (std::map<plan::Phase, int64_t>{{plan::Phase::kCompile, 80'000}}));
  EXPECT_EQ(spec.phase_limit_origins.at(plan::Phase::kCompile), limit.origin());
  observer.phase_limit("phase compile took longer than 80 s", "the log");
  UntilRunning(2);
  EXPECT_EQ(limited_.at(1), "phase compile took longer than 80 s");
  EXPECT_TRUE(finished_.empty());
  EXPECT_TRUE(returned_.empty());
  EXPECT_EQ(troubles_, 0) << "no trouble of the host: nothing rests or is checked";
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, ThePreparationOfAWarmCacheHasNoLearnedLimit) {
  v1::PhaseLimit limit;
  limit.set_phase("compile");
  limit.set_limit_ms(80'000);
  Lease(7, {1}, plan::Start::kWarm, "default", {}, {limit});
  UntilRunning(1);
  EXPECT_TRUE(engine_.running.at(1).first.prepare);
  EXPECT_TRUE(engine_.running.at(1).first.phase_limits_ms.empty());
}

// What an engine says of an attempt that infrastructure ended.
plan::Result InfrastructureFailure(const std::string& status, plan::Phase phase) {
  plan::Result result;
  result.outcome = plan::Outcome::kLost;
  result.status = status;
  result.blame = plan::Blame::kInfrastructure;
  result.phase = phase;
  return result;
}

TEST_F(SlotTest, ACpuHasNoDeviceToLose) {
  Make(1, [](SlotShape* shape) { shape->device = "cpu"; });
  Lease(7, {1});
  UntilRunning(1);
  plan::Result result = InfrastructureFailure("device_lost", plan::Phase::kLoad);
  result.error = "RuntimeError: No CUDA GPUs are available";
  engine_.Finish(1, result);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].result().outcome(), "failed");
  EXPECT_EQ(finished_[0].result().blame(), "model");
  EXPECT_EQ(finished_[0].result().error(), result.error);
}

TEST_F(SlotTest, ACpuHasNoDeviceToHang) {
  Make(1, [](SlotShape* shape) { shape->device = "cpu"; });
  Lease(7, {1});
  UntilRunning(1);
  plan::Result result = InfrastructureFailure("gpu_hang", plan::Phase::kCompile);
  result.exit_signal = SIGABRT;
  engine_.Finish(1, result);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].result().outcome(), "failed");
  EXPECT_EQ(finished_[0].result().status(), "crash");
}

TEST_F(SlotTest, ADeviceThatFailsEndsAnAttemptWithoutAResult) {
  Make(1, [](SlotShape* shape) { shape->device = "cuda"; });
  Lease(7, {1});
  UntilRunning(1);
  plan::Result result = InfrastructureFailure("gpu_hang", plan::Phase::kCompile);
  result.error = "HW Exception by GPU node-1";
  engine_.Finish(1, result);
  Until([&] { return slot_->idle(); });
  EXPECT_TRUE(finished_.empty()) << "it is measured elsewhere";
  EXPECT_TRUE(returned_.empty());
  EXPECT_EQ(infrastructure_failed_.at(1), "gpu_hang in phase compile: HW Exception by GPU node-1");
  // The slot is closed before the coordinator hears that it is free.
  EXPECT_EQ(told_, (std::vector<std::string>{"end gpu_hang", "failed gpu_hang"}));
  const std::string kept = dir_ / "work/1.7";
  Until([&] { return fs::exists(kept + "/log"); });
  EXPECT_FALSE(fs::exists(kept + "/cache"));
}

TEST_F(SlotTest, SoDoesAHostThatFails) {
  for (const std::string status : {"no_space", "download_failed", "not_prepared"}) {
    SCOPED_TRACE(status);
    told_.clear();
    Lease(7, {1, 2});
    UntilRunning(1);
    WriteText(engine_.running.at(1).first.work_dir + "/weights", "gigabytes");
    plan::Result result = InfrastructureFailure(status, plan::Phase::kLoad);
    result.error = "what was wrong";
    engine_.Finish(1, result);
    UntilRunning(2);  // the agent decides what becomes of the rest
    engine_.Pass(2);
    Until([&] { return slot_->idle(); });
    EXPECT_EQ(finished_.size(), 1u);
    EXPECT_EQ(infrastructure_failed_.at(1), status + " in phase load: what was wrong");
    EXPECT_EQ(told_.at(1), "failed " + status);
    const std::string kept = dir_ / "work/1.7";
    Until([&] { return fs::exists(kept + "/kept.txt"); });
    EXPECT_TRUE(fs::exists(kept + "/log"));
    EXPECT_EQ(fs::exists(kept + "/run/weights"), status != "no_space");
    finished_.clear();
    fs::remove_all(kept);
  }
}

TEST_F(SlotTest, ProcessesThatKillDidNotReachAreTold) {
  Lease(7, {1});
  UntilRunning(1);
  engine_.running.at(1).second.stuck({StuckProcess{ProcessStat(), "sleep 1000"}});
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(stuck_, 1u);
}

TEST_F(SlotTest, TheSharedCacheOfAnotherLanesJobStays) {
  Make(2);
  Lease(7, {1}, plan::Start::kShared);
  UntilRunning(1);
  const std::string first = engine_.running.at(1).first.cache_dir;
  job_ = 2;
  Lease(8, {2}, plan::Start::kShared);
  UntilRunning(2);
  EXPECT_TRUE(fs::exists(first));
  EXPECT_NE(engine_.running.at(2).first.cache_dir, first);
  engine_.Pass(1);
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
  Lease(9, {3}, plan::Start::kShared);
  UntilRunning(3);
  EXPECT_FALSE(fs::exists(first)) << "nobody of that job runs here any more";
}

TEST_F(SlotTest, RevokedExperimentsStopAndAreNotReported) {
  Lease(7, {1, 2, 3});
  UntilRunning(1);
  slot_->Revoke(LeaseEpoch(6), {ExperimentId(1)}, "of another lease");
  EXPECT_EQ(engine_.running.size(), 1u);
  slot_->Revoke(LeaseEpoch(7), {ExperimentId(1), ExperimentId(2)}, "cancelled");
  UntilRunning(3);
  engine_.Pass(3);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].attempt().experiment(), 3);
  EXPECT_TRUE(returned_.empty());
}

TEST_F(SlotTest, AClosedSlotGivesBackWhatWaitsAndLetsEndWhatRuns) {
  Lease(7, {1, 2});
  UntilRunning(1);
  slot_->Close("drained: new kernel");
  EXPECT_EQ(returned_, (std::map<int64_t, std::string>{{2, "drained: new kernel"}}));
  Lease(8, {3});
  EXPECT_EQ(returned_[3], "drained: new kernel");
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(finished_.size(), 1u);
  slot_->Open();
  Lease(9, {4});
  UntilRunning(4);
  engine_.Pass(4);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(troubles_, 0);
}

TEST_F(SlotTest, WhatItDoesIsToldFromItsBeginningToItsEnd) {
  Lease(7, {1});
  UntilRunning(1);
  const AttemptObserver observer = engine_.running.at(1).second;
  observer.phase(plan::Phase::kCompile);
  bool granted = false;
  observer.window(DeviceUse::kMeasure, [&](int64_t) { granted = true; });
  Until([&] { return granted; });
  observer.window_done();
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(activities_, (std::vector<Activity>{Activity::kPreparing, Activity::kZygoteStart,
                                                Activity::kCompiling, Activity::kWaitingForWindow,
                                                Activity::kMeasuring, Activity::kCompiling,
                                                Activity::kCleaning, Activity::kIdle}));
}

TEST_F(SlotTest, DrainingGivesEverythingBackAndCountsAgainstNobody) {
  Lease(7, {1, 2});
  UntilRunning(1);
  slot_->Drain("stopping");
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(returned_, (std::map<int64_t, std::string>{{1, "stopping"}, {2, "stopping"}}));
  Lease(8, {4});
  EXPECT_EQ(returned_.at(4), "stopping");
  EXPECT_TRUE(finished_.empty());
}

TEST_F(SlotTest, WarmPreparesAMissingCacheFirstAndThenStartsFromACopy) {
  Lease(7, {1}, plan::Start::kWarm);
  UntilRunning(1);
  EXPECT_TRUE(engine_.running[1].first.prepare);
  WriteText(engine_.running[1].first.cache_dir + "/graph", "compiled");
  engine_.Pass(1);
  UntilRunning(1);
  EXPECT_FALSE(engine_.running[1].first.prepare);
  const std::string cache = engine_.running[1].first.cache_dir;
  EXPECT_EQ(ReadText(cache + "/graph"), "compiled");
  WriteText(cache + "/graph", "scribbled");
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  ASSERT_EQ(finished_.size(), 1u);
  ASSERT_EQ(finished_[0].result().notes_size(), 1);
  // The next one finds the prepared cache, as it was.
  Lease(8, {2}, plan::Start::kWarm);
  UntilRunning(2);
  EXPECT_FALSE(engine_.running[2].first.prepare);
  EXPECT_EQ(ReadText(engine_.running[2].first.cache_dir + "/graph"), "compiled");
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, APreparedCacheThatNoLongerHitsIsPreparedAnewOnce) {
  plan::Result missed;
  missed.outcome = plan::Outcome::kPassed;
  missed.start_proof.cache_misses = 1;
  for (const int64_t id : {1, 2, 3}) {
    SCOPED_TRACE(id);
    Lease(6 + id, {id}, plan::Start::kWarm);
    UntilRunning(id);
    // 1: nothing is there. 2: it is kept although 1 missed, whose own preparation would be missed
    // again by everyone. 3: 2 has missed one that was there already.
    EXPECT_EQ(engine_.running[id].first.prepare, id != 2);
    if (engine_.running[id].first.prepare) {
      WriteText(engine_.running[id].first.cache_dir + "/graph", "compiled");
      engine_.Pass(id);
      UntilRunning(id);
    }
    engine_.Finish(id, missed);
    const std::string work = dir_ / ("work/" + std::to_string(id) + "." + std::to_string(6 + id));
    Until([&] { return slot_->idle() && !fs::exists(work); });
  }
}

TEST_F(SlotTest, APreparationThatLeftNothingIsFollowedByTheRunAndSaysSo) {
  Lease(7, {1}, plan::Start::kWarm);  // as with a backend that caches nothing
  UntilRunning(1);
  engine_.Pass(1);
  UntilRunning(1);
  EXPECT_FALSE(engine_.running[1].first.prepare);
  EXPECT_TRUE(fs::is_empty(engine_.running[1].first.cache_dir));
  engine_.Pass(1);
  Until([&] { return slot_->idle(); });
  EXPECT_TRUE(returned_.empty()) << returned_.begin()->second;
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].result().notes_size(), 2);
}

TEST_F(SlotTest, APassedColdAttemptPreparesTheWarmOnes) {
  Lease(7, {1});
  UntilRunning(1);
  WriteText(engine_.running[1].first.cache_dir + "/graph", "compiled");
  engine_.Pass(1);
  Until([&] { return slot_->idle() && !fs::exists(dir_ / "work/1.7"); });
  Lease(8, {2}, plan::Start::kWarm);
  UntilRunning(2);
  EXPECT_FALSE(engine_.running[2].first.prepare);
  engine_.Pass(2);
  Until([&] { return slot_->idle(); });
}

TEST_F(SlotTest, WhatThisHostCannotRunIsReturnedAsTrouble) {
  Lease(7, {1}, plan::Start::kCold, "nightly");
  EXPECT_TRUE(absl::StrContains(returned_.at(1), "no environment nightly (trouble)"));
  EXPECT_TRUE(slot_->idle());
}

TEST_F(SlotTest, TheWindowIsOneLanesAloneAndPassesOn) {
  Make(3);
  Lease(7, {1, 2, 3, 4});
  Until([&] { return engine_.running.size() == 3; });
  std::vector<int64_t> granted;
  const auto ask = [&](int64_t id) {
    engine_.running[id].second.window(DeviceUse::kMeasure,
                                      [&, id](int64_t) { granted.push_back(id); });
  };
  ask(1);
  ask(2);
  Until([&] { return granted.size() == 1; });
  EXPECT_EQ(granted[0], 1);
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{2, 3}));
  engine_.running[1].second.window_done();
  Until([&] { return granted.size() == 2; });
  EXPECT_EQ(granted[1], 2);
  EXPECT_EQ(engine_.frozen, (std::set<int64_t>{1, 3}));
  // Its holder dies with it: everybody goes on, and the next experiment may begin only now.
  EXPECT_EQ(engine_.running.count(4), 0u);
  plan::Result crash;
  crash.outcome = plan::Outcome::kFailed;
  engine_.Finish(2, crash);
  UntilRunning(4);
  EXPECT_TRUE(engine_.frozen.empty());
  for (const int64_t id : {1, 3, 4}) engine_.Pass(id);
  Until([&] { return slot_->idle(); });
  EXPECT_EQ(finished_.size(), 4u);
}

}  // namespace
}  // namespace dynbench::worker

// Method: the engine drives tests/props/scripted_runner, which speaks the runner's protocol without
// torch, so that each attempt does exactly one thing. Waiting is for callbacks; afterwards /proc
// must show nothing of a tree.
#include "worker/engine/native_engine.h"

#include <signal.h>
#include <unistd.h>

#include <future>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/process/process_tree.h"
#include "worker/process/tree_freezer.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

// How an attempt ended: one of the two.
struct End {
  std::optional<plan::Result> result;
  std::string log;
  std::string returned;
};

class NativeEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no python for the scripted runner";
    fs::create_directories(dir_ / "runner/shims");
    fs::copy_file(DYNBENCH_PROPS "/scripted_runner", dir_ / "runner/dynbench-runner");
    NativeEngineOptions options;
    options.state_dir = dir_ / "state";
    options.variables = OwnEnvironment();
    options.profile = [](const std::string& name) -> absl::StatusOr<plan::LaunchProfile> {
      plan::LaunchProfile profile;
      profile.name = name;
      return profile;
    };
    engine_ = std::make_unique<NativeEngine>(std::move(options));
    Environment environment;
    environment.name = "default";
    environment.hash = std::string(64, 'a');
    environment.runner_dir = dir_ / "runner";
    environments_ = {{"default", environment}};
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_TRUE(Descendants(getpid()).empty()) << "the engine left processes";
  }

  AttemptSpec Spec(int64_t id, const std::string& script) {
    AttemptSpec spec;
    spec.id = {ExperimentId(id), LeaseEpoch(1)};
    spec.experiment.model = script;
    spec.experiment.timeout_ms = 50'000;
    spec.experiment_json = plan::ToJson(spec.experiment);
    spec.work_dir = dir_ / std::to_string(id);
    fs::create_directories(spec.work_dir);
    return spec;
  }

  std::future<End> Start(AttemptSpec spec, AttemptObserver observer = {}) {
    auto promise = std::make_shared<std::promise<End>>();
    observer.finished = [promise](plan::Result result, std::string log) {
      promise->set_value({std::move(result), std::move(log), ""});
    };
    observer.returned = [promise](std::string reason) {
      promise->set_value({std::nullopt, "", std::move(reason)});
    };
    engine_->Start(std::move(spec), std::move(observer));
    return promise->get_future();
  }

  End Run(const std::string& script, int64_t timeout_ms = 50'000) {
    AttemptSpec spec = Spec(++last_, script);
    spec.experiment.timeout_ms = timeout_ms;
    return Start(std::move(spec)).get();
  }

  ScratchDir dir_;
  std::unique_ptr<NativeEngine> engine_;
  std::map<std::string, Environment> environments_;
  int64_t last_ = 0;
};

TEST_F(NativeEngineTest, EndsOfEveryKindAreTold) {
  engine_->SetEnvironments(environments_);
  End end = Run("phase:load+print:hello+phase:compile+result");
  ASSERT_TRUE(end.result) << end.returned;
  EXPECT_EQ(end.result->outcome, plan::Outcome::kPassed);
  EXPECT_EQ(end.log, "hello\n");
  ASSERT_EQ(end.result->phases.size(), 3u);
  EXPECT_EQ(end.result->phases[0].phase, plan::Phase::kPrepare);
  EXPECT_EQ(end.result->phases[2].phase, plan::Phase::kCompile);

  end = Run("phase:load+exit:0");
  EXPECT_EQ(end.result->status, "crash");
  EXPECT_EQ(end.result->blame, plan::Blame::kModel);

  end = Run("phase:compile+stray+segv");
  EXPECT_EQ(end.result->exit_signal, SIGSEGV);
  EXPECT_EQ(end.result->blame, plan::Blame::kCompiler);
  EXPECT_TRUE(absl::StrContains(end.result->notes.at(0), "left behind"));

  end = Run("phase:eager+stray+hang", /*timeout_ms=*/300);
  EXPECT_EQ(end.result->status, "timeout");
  EXPECT_EQ(end.result->phase, plan::Phase::kEager);
}

TEST_F(NativeEngineTest, AtALearnedLimitTheAttemptIsEndedForAnotherOneAndIsNoResult) {
  engine_->SetEnvironments(environments_);
  AttemptSpec spec = Spec(++last_, "phase:load+phase:compile+stray+hang");
  spec.phase_limits_ms[plan::Phase::kCompile] = 300;
  spec.phase_limit_origins[plan::Phase::kCompile] = "4 times the longest of 9 runs";
  std::promise<std::string> reason;
  AttemptObserver observer;
  observer.phase_limit = [&](const std::string& text, const std::string&) {
    reason.set_value(text);
  };
  Start(spec, observer);
  EXPECT_EQ(reason.get_future().get(),
            "phase compile took longer than 0.3 s, 4 times the longest of 9 runs; it runs again "
            "with the experiment's limit of 50 s alone (--timeout)");
  // In another phase it says nothing.
  AttemptSpec other = Spec(++last_, "phase:eager+hang");
  other.phase_limits_ms = spec.phase_limits_ms;
  other.experiment.timeout_ms = 600;
  EXPECT_EQ(Start(other).get().result->status, "timeout");
}

TEST_F(NativeEngineTest, WhoKillDidNotReachIsToldAndItsLaneIsUsedNoMore) {
  engine_->SetEnvironments(environments_);
  std::vector<StuckProcess> stuck;
  AttemptObserver observer;
  observer.stuck = [&](const std::vector<StuckProcess>& processes) { stuck = processes; };
  const End end = Start(Spec(++last_, "stuck+result"), observer).get();
  ASSERT_TRUE(end.result) << end.returned;
  EXPECT_EQ(end.result->outcome, plan::Outcome::kPassed) << "what it measured, it measured";
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_TRUE(absl::StrContains(stuck[0].command, "sleep 1000")) << stuck[0].command;
  EXPECT_TRUE(absl::StrContains(end.result->notes.at(0), "did not end after KILL"));
  EXPECT_EQ(Run("result").result->outcome, plan::Outcome::kPassed);
}

TEST_F(NativeEngineTest, ALaneThatIsKilledReturnsItsAttemptAndTheNextOneRuns) {
  engine_->SetEnvironments(environments_);
  const End end = Run("phase:load+killlane");
  EXPECT_FALSE(end.result);
  EXPECT_TRUE(absl::StrContains(end.returned, "lane")) << end.returned;
  EXPECT_TRUE(Run("result").result);
}

TEST_F(NativeEngineTest, CancellingEndsATreeThatIsDeafToTerm) {
  engine_->SetEnvironments(environments_);
  std::promise<void> hanging;
  AttemptObserver observer;
  observer.phase = [&](plan::Phase) { hanging.set_value(); };
  AttemptSpec spec = Spec(77, "phase:load+stray+hang");
  const AttemptId id = spec.id;
  auto end = Start(std::move(spec), std::move(observer));
  hanging.get_future().wait();
  engine_->Cancel(id, "not wanted");
  const End ended = end.get();
  ASSERT_TRUE(ended.result);
  EXPECT_EQ(ended.result->outcome, plan::Outcome::kCancelled);
  EXPECT_EQ(ended.result->error, "not wanted");
}

TEST_F(NativeEngineTest, AFrozenAttemptStandsStillAndItsTimeoutWithIt) {
  engine_->SetEnvironments(environments_);
  std::promise<void> counting;
  AttemptObserver observer;
  observer.phase = [&](plan::Phase) { counting.set_value(); };
  AttemptSpec spec = Spec(5, "phase:compile+count");
  spec.experiment.timeout_ms = 1'000;
  const std::string counter = spec.work_dir + "/count";
  const AttemptId id = spec.id;
  auto end = Start(std::move(spec), std::move(observer));
  counting.get_future().wait();
  std::promise<bool> frozen;
  engine_->Freeze({id}, [&](bool all) { frozen.set_value(all); });
  ASSERT_TRUE(frozen.get_future().get());
  const std::string count = fs::exists(counter) ? ReadText(counter) : "";
  // Longer than the whole time limit: frozen time counts for nobody.
  ASSERT_EQ(end.wait_for(std::chrono::milliseconds(1'200)), std::future_status::timeout);
  EXPECT_EQ(fs::exists(counter) ? ReadText(counter) : "", count);
  engine_->Thaw({id});
  const End ended = end.get();
  ASSERT_TRUE(ended.result);
  EXPECT_EQ(ended.result->status, "timeout");
  const plan::PhaseSpan& compile = ended.result->phases.back();
  EXPECT_GE(compile.frozen_ns, 1'200 * kNsPerMs);
  EXPECT_NE(ReadText(counter), count);
}

// The lane is warm, so the attempt is sent at once and frozen before its child is forked. What
// other attempts take meanwhile would be time enough to count on.
TEST_F(NativeEngineTest, AnAttemptThatIsFrozenBeforeItsChildIsForkedStandsStillToo) {
  engine_->SetEnvironments(environments_);
  ASSERT_TRUE(Run("result").result);
  AttemptSpec spec = Spec(77, "phase:compile+count");
  const std::string counter = spec.work_dir + "/count";
  const AttemptId id = spec.id;
  auto end = Start(std::move(spec));
  std::promise<bool> frozen;
  engine_->Freeze({id}, [&](bool all) { frozen.set_value(all); });
  ASSERT_TRUE(frozen.get_future().get());
  ASSERT_TRUE(Run("phase:load+result").result);
  const std::string count = fs::exists(counter) ? ReadText(counter) : "";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Run("phase:load+phase:compile+result").result);
  EXPECT_EQ(fs::exists(counter) ? ReadText(counter) : "", count);
  engine_->Thaw({id});
  engine_->Cancel(id, "seen enough");
  EXPECT_TRUE(end.get().result);
}

TEST_F(NativeEngineTest, OneThatIsForkedInAWindowAndCannotBeStoppedIsTold) {
  if (TreeFreezer(getpid(), "probe-" + std::to_string(getpid())).method() !=
      TreeFreezer::Method::kSignals) {
    GTEST_SKIP() << "a cgroup stops everybody";
  }
  engine_->SetEnvironments(environments_);
  const AttemptSpec spec = Spec(77, "vfork");
  std::promise<void> runs_on;
  std::promise<bool> frozen;
  std::promise<plan::Outcome> ended;
  AttemptObserver forked;
  forked.runs_on = [&] { runs_on.set_value(); };
  forked.finished = [&](const plan::Result& result, const std::string&) {
    ended.set_value(result.outcome);
  };
  AttemptObserver before;
  before.finished = [&](const plan::Result&, const std::string&) {
    // On the engine's thread, so that nothing comes in between; its lane is warm.
    engine_->Start(spec, forked);
    engine_->Freeze({spec.id}, [&](bool all) { frozen.set_value(all); });
  };
  engine_->Start(Spec(76, "result"), before);
  EXPECT_TRUE(frozen.get_future().get()) << "there is nobody yet";
  runs_on.get_future().wait();
  engine_->Cancel(spec.id, "seen enough");
  EXPECT_EQ(ended.get_future().get(), plan::Outcome::kCancelled);
}

// A socket holds about 250 unread lines.
TEST_F(NativeEngineTest, AChildThatNeverReadsHoldsNobodyUpHoweverOftenItIsStopped) {
  engine_->SetEnvironments(environments_);
  std::promise<void> hanging;
  AttemptObserver observer;
  observer.phase = [&](plan::Phase) { hanging.set_value(); };
  AttemptSpec spec = Spec(77, "phase:compile+hang");
  spec.experiment.timeout_ms = 2'000;
  const AttemptId id = spec.id;
  auto end = Start(std::move(spec), std::move(observer));
  hanging.get_future().wait();
  for (int i = 0; i < 320; ++i) {
    engine_->Freeze({id}, [](bool) {});
    engine_->Thaw({id});
  }
  EXPECT_EQ(Run("result").result->outcome, plan::Outcome::kPassed) << "on another lane";
  EXPECT_EQ(end.get().result->status, "timeout");
}

TEST_F(NativeEngineTest, WhenItStoodStillForOthersIsToldWithTheWindow) {
  engine_->SetEnvironments(environments_);
  std::promise<std::function<void(int64_t)>> asked;
  AttemptObserver observer;
  observer.window = [&](DeviceUse, std::function<void(int64_t)> granted) {
    asked.set_value(std::move(granted));
  };
  AttemptSpec spec = Spec(77, "phase:compile+window+result");
  const AttemptId id = spec.id;
  const std::string go_file = spec.work_dir + "/go";
  auto end = Start(std::move(spec), std::move(observer));
  const auto granted = asked.get_future().get();
  for (int i = 0; i < 3; ++i) {
    engine_->Freeze({id}, [](bool) {});
    engine_->Thaw({id});
  }
  granted(8);
  ASSERT_TRUE(end.get().result);
  const auto go = nlohmann::json::parse(ReadText(go_file));
  EXPECT_EQ(go.at("flags"), 8);
  ASSERT_EQ(go.at("frozen").size(), 3u);
  int64_t last_ns = 0;
  for (const auto& span : go.at("frozen")) {
    for (const int64_t ns : span) {
      EXPECT_GT(ns, last_ns);
      last_ns = ns;
    }
  }
}

TEST_F(NativeEngineTest, WhoHasTheLaneOfOneThatEndedFrozenRuns) {
  engine_->SetEnvironments(environments_);
  std::promise<void> hanging;
  AttemptObserver observer;
  observer.phase = [&](plan::Phase) { hanging.set_value(); };
  AttemptSpec spec = Spec(77, "pid+phase:load+hang");
  const AttemptId id = spec.id;
  const std::string pid_file = spec.work_dir + "/pid";
  auto end = Start(std::move(spec), std::move(observer));
  hanging.get_future().wait();
  std::promise<bool> frozen;
  engine_->Freeze({id}, [&](bool all) { frozen.set_value(all); });
  ASSERT_TRUE(frozen.get_future().get());
  kill(std::stoi(ReadText(pid_file)), SIGKILL);
  ASSERT_TRUE(end.get().result);
  const End next = Run("phase:load+result", /*timeout_ms=*/3'000);
  ASSERT_TRUE(next.result);
  EXPECT_EQ(next.result->outcome, plan::Outcome::kPassed) << next.result->status;
}

TEST_F(NativeEngineTest, AnEnvironmentThatCannotBeImportedReturnsWithItsReason) {
  WriteText(dir_ / "runner/shims/broken", "");
  engine_->SetEnvironments(environments_);
  const End end = Run("result");
  EXPECT_TRUE(absl::StrContains(end.returned, "no module named torch")) << end.returned;
  EXPECT_TRUE(absl::StrContains(Start([&] {
                                  AttemptSpec spec = Spec(9, "result");
                                  spec.experiment.environment = "nightly";
                                  return spec;
                                }())
                                    .get()
                                    .returned,
                                "no environment nightly"));
}

TEST_F(NativeEngineTest, FromStartToTheChildWithAWarmLaneIsUnder50Ms) {
  engine_->SetEnvironments(environments_);
  ASSERT_TRUE(Run("result").result);  // zygote and lane are warm now
  int64_t best_ns = INT64_MAX;        // of several: the machine may be busy
  for (int i = 0; i < 10; ++i) {
    const End end = Run("phase:load+result");
    ASSERT_TRUE(end.result);
    best_ns = std::min(best_ns, end.result->phases[0].duration_ns);
  }
  EXPECT_LT(best_ns, 50 * kNsPerMs);
}

}  // namespace
}  // namespace dynbench::worker

// Method: shell programs on lanes that are this test's own program (main below). Waiting is for
// callbacks; afterwards /proc must show nothing of a tree.
#include "worker/engine/program_engine.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/process/process_tree.h"
#include "worker/process/program_lane.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;
using plan::Outcome;
using testing::HasSubstr;

struct End {
  std::optional<plan::Result> result;
  std::string log;
  std::string returned;
};

class ProgramEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    ProgramEngineOptions options;
    options.state_dir = dir_ / "state";
    options.variables = OwnEnvironment();
    options.variables["SECRET_TOKEN"] = "abc";
    options.profile = [](const std::string& name) -> absl::StatusOr<plan::LaunchProfile> {
      plan::LaunchProfile profile;
      profile.name = name;
      profile.environment = {{"OMP_NUM_THREADS", "1"}};
      return profile;
    };
    options.sweep = [this] {
      if (swept_) swept_();
    };
    engine_ = std::make_unique<ProgramEngine>(std::move(options));
    Environment environment;
    environment.name = "default";
    environment.facts.python = "/usr/bin/python3";
    engine_->SetEnvironments({{"default", environment}});
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_TRUE(Descendants(getpid()).empty()) << "the engine left processes";
  }

  AttemptSpec Spec(std::vector<std::string> command) {
    AttemptSpec spec;
    spec.id = {ExperimentId(++last_), LeaseEpoch(1)};
    spec.experiment.engine = "command";
    spec.experiment.command = std::move(command);
    spec.experiment.timeout_ms = 50'000;
    spec.work_dir = dir_ / absl::StrCat("größer ", last_);
    spec.cache_dir = spec.work_dir + "/cache";
    fs::create_directories(spec.cache_dir);
    return spec;
  }
  AttemptSpec Shell(const std::string& script) { return Spec({"sh", "-c", script}); }
  // One of upstream's scripts that hangs in speedup_experiment.
  AttemptSpec HangingScript() {
    fs::create_directories(dir_ / "scripts");
    WriteText(dir_ / "scripts/timm_models.py",
              "import threading\ndef speedup_experiment():\n"
              "    print('cpu eval m ', end='', flush=True)\n"
              "    threading.Event().wait()\nspeedup_experiment()\n");
    AttemptSpec spec = Spec({"{python}", dir_ / "scripts/timm_models.py", "--output={output}"});
    spec.experiment.engine = "script";
    spec.experiment.model = "m";
    spec.experiment.timeout_ms = 2'000;
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
  End Run(AttemptSpec spec) { return Start(std::move(spec)).get(); }

  ScratchDir dir_;
  std::function<void()> swept_;  // set before anything runs; called on the engine's thread
  int64_t last_ = 0;
  std::unique_ptr<ProgramEngine> engine_;
};

TEST_F(ProgramEngineTest, MeasuresWhatAProgramReports) {
  const AttemptSpec spec =
      Spec({"sh", "-c", R"(echo "dynbench: {\"sample\": \"compiled\", \"ns\": $1}"; pwd; echo $2)",
            "sh", "2000000", "{output}"});
  const End end = Run(spec);
  ASSERT_TRUE(end.result) << end.returned;
  EXPECT_EQ(end.result->outcome, Outcome::kPassed) << end.result->error;
  EXPECT_DOUBLE_EQ(*end.result->metrics.abs_latency_ms, 2);
  EXPECT_THAT(end.log, HasSubstr("\n" + spec.work_dir + "\n" + spec.work_dir + "/upstream.csv\n"));
  EXPECT_THAT(end.result->in_force.at("argv"), HasSubstr("\"2000000\""));
  EXPECT_TRUE(end.result->start_proof.proven);
}

TEST_F(ProgramEngineTest, GivesACleanedEnvironmentAndNoDescriptorsCoresOrCoreFiles) {
  AttemptSpec spec = Shell("env; echo fds $(ls /proc/self/fd | tr '\\n' ' '); ulimit -c");
  spec.experiment.set_env = {{"TORCH_LOGS", "recompiles"}, {"LD_PRELOAD", "/evil.so"}};
  const End end = Run(spec);
  EXPECT_THAT(end.log, HasSubstr("OMP_NUM_THREADS=1\n"));
  EXPECT_THAT(end.log, HasSubstr("TORCH_LOGS=recompiles\n"));
  EXPECT_THAT(end.log, HasSubstr("CUDA_VISIBLE_DEVICES=\n"));
  EXPECT_THAT(end.log, testing::Not(HasSubstr("SECRET_TOKEN")));
  EXPECT_THAT(end.log, testing::Not(HasSubstr("evil")));
  // A folder whose name a shell would split is reached by a link.
  EXPECT_THAT(end.log, HasSubstr("TORCHINDUCTOR_CACHE_DIR=/tmp/dynbench-"));
  EXPECT_THAT(end.log, HasSubstr("fds 0 1 2 3\n")) << "3 is ls's own";
  EXPECT_THAT(end.log, HasSubstr("\n0\n"));
}

TEST_F(ProgramEngineTest, ExitCodesAndSignalsAreCrashes) {
  const End exit = Run(Shell("exit 7"));
  EXPECT_EQ(exit.result->status, "crash");
  EXPECT_EQ(exit.result->exit_code, 7);
  EXPECT_EQ(Run(Shell("kill -SEGV $$")).result->exit_signal, SIGSEGV);
  EXPECT_EQ(Run(Shell("true")).result->status, "crash");
}

TEST_F(ProgramEngineTest, NothingOfATreeIsLeft) {
  // A daemon of its own session that ignores TERM and holds the output.
  const End end =
      Run(Shell("setsid sh -c 'trap \"\" TERM; sleep 600' & "
                "echo 'dynbench: {\"status\": \"measured\"}'"));
  EXPECT_EQ(end.result->outcome, Outcome::kPassed);
  EXPECT_THAT(end.result->notes, testing::Contains(HasSubstr("left behind")));
}

TEST_F(ProgramEngineTest, TheTimeLimitEndsATreeThatIgnoresTerm) {
  AttemptSpec spec = Shell("trap '' TERM; sleep 600 & sleep 600");
  spec.experiment.timeout_ms = 200;
  const End end = Run(spec);
  EXPECT_EQ(end.result->status, "timeout");
  EXPECT_THAT(end.result->error, HasSubstr("0.2 s"));
  EXPECT_THAT(end.result->error, HasSubstr("--timeout"));
}

TEST_F(ProgramEngineTest, AScriptShowsItsStackBeforeItIsKilled) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no python";
  const End end = Run(HangingScript());
  ASSERT_TRUE(end.result) << end.returned;
  EXPECT_EQ(end.result->status, "timeout");
  EXPECT_EQ(end.result->phase, plan::Phase::kMeasure) << end.log;
  EXPECT_THAT(end.log, HasSubstr("in speedup_experiment"));
  EXPECT_EQ(end.result->in_force.count("scripts.sha256"), 1u);
}

TEST_F(ProgramEngineTest, WhatThisHostLacksIsReturnedAndNamed) {
  EXPECT_THAT(Run(Spec({"no-such-program"})).returned, HasSubstr("no-such-program"));
  AttemptSpec script = Spec({"{python}", "/no/such/timm_models.py"});
  script.experiment.engine = "script";
  EXPECT_THAT(Run(script).returned, HasSubstr("/no/such/timm_models.py"));
  AttemptSpec environment = Shell("true");
  environment.experiment.environment = "other";
  EXPECT_THAT(Run(environment).returned, HasSubstr("no environment other"));
}

TEST_F(ProgramEngineTest, APerformanceTestRunsOnlyInItsWindowAndCanBeCancelledBefore) {
  std::promise<std::function<void(int64_t)>> asked;
  AttemptObserver observer;
  observer.window = [&](DeviceUse, std::function<void(int64_t)> granted) {
    asked.set_value(std::move(granted));
  };
  AttemptSpec spec = Shell("echo 'dynbench: {\"status\": \"measured\"}'");
  const AttemptId id = spec.id;
  auto end = Start(spec, observer);
  const auto granted = asked.get_future().get();
  engine_->Cancel(id, "changed my mind");
  EXPECT_EQ(end.get().result->outcome, Outcome::kCancelled);
  granted(0);  // too late: nothing happens

  std::promise<std::function<void(int64_t)>> again;
  observer.window = [&](DeviceUse, std::function<void(int64_t)> grant) {
    again.set_value(std::move(grant));
  };
  auto second = Start(Shell("echo 'dynbench: {\"status\": \"measured\"}'"), observer);
  again.get_future().get()(0);
  EXPECT_EQ(second.get().result->outcome, Outcome::kPassed);
}

TEST_F(ProgramEngineTest, CancelFreezeAndThaw) {
  std::promise<void> started;
  AttemptObserver observer;
  observer.log = [&](int64_t offset, std::string_view) {
    if (offset == 0) started.set_value();
  };
  AttemptSpec spec = Shell("echo begun; sleep 600");
  const AttemptId id = spec.id;
  auto end = Start(spec, observer);
  started.get_future().wait();
  std::promise<bool> frozen;
  engine_->Freeze({id}, [&](bool all) { frozen.set_value(all); });
  EXPECT_TRUE(frozen.get_future().get());
  engine_->Thaw({id});
  engine_->Cancel(id, "enough");
  const End ended = end.get();
  EXPECT_EQ(ended.result->outcome, Outcome::kCancelled);
  EXPECT_EQ(ended.result->error, "enough");
}

// A shell that would say so were it told to end, and would go on.
constexpr char kDeafToTerm[] = "trap 'echo termed' TERM; echo begun; while :; do sleep 0.01; done";

TEST_F(ProgramEngineTest, WhatStandsStillIsEndedAsItStands) {
  std::promise<void> started;
  AttemptObserver observer;
  observer.log = [&](int64_t offset, std::string_view) {
    if (offset == 0) started.set_value();
  };
  AttemptSpec spec = Shell(kDeafToTerm);
  const AttemptId id = spec.id;
  auto end = Start(spec, observer);
  started.get_future().wait();
  std::promise<bool> frozen;
  engine_->Freeze({id}, [&](bool all) { frozen.set_value(all); });
  EXPECT_TRUE(frozen.get_future().get());
  engine_->Cancel(id, "revoked");
  const End ended = end.get();
  EXPECT_EQ(ended.result->outcome, Outcome::kCancelled);
  EXPECT_EQ(ended.log, "begun\n") << "it ran in another one's window";
}

TEST_F(ProgramEngineTest, AGraceIsOverWhenAnotherOnesWindowBegins) {
  std::promise<void> termed;
  std::string log;  // the engine's thread's
  AttemptObserver observer;
  AttemptSpec spec = Shell(kDeafToTerm);
  const AttemptId id = spec.id;
  observer.log = [&](int64_t, std::string_view bytes) {
    const bool known = log.find("termed") != std::string::npos;
    log += bytes;
    if (log == "begun\n") engine_->Cancel(id, "revoked");
    if (!known && log.find("termed") != std::string::npos) termed.set_value();
  };
  auto end = Start(spec, observer);
  termed.get_future().wait();
  std::promise<size_t> left;
  engine_->Freeze({id}, [&](bool all) {
    EXPECT_TRUE(all);
    size_t below_lanes = 0;
    for (const ProcessStat& process : Descendants(getpid())) {
      if (process.parent != getpid()) ++below_lanes;
    }
    left.set_value(below_lanes);
  });
  EXPECT_EQ(left.get_future().get(), 0u);
  engine_->Thaw({id});
  EXPECT_EQ(end.get().result->outcome, Outcome::kCancelled);
}

TEST_F(ProgramEngineTest, TheStackOfAHangIsShownAlsoWhenAnotherOnesWindowBegins) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no python";
  std::promise<bool> gone;
  AttemptObserver observer;
  AttemptSpec spec = HangingScript();
  const AttemptId id = spec.id;
  observer.log = [&](int64_t, std::string_view bytes) {
    if (bytes.find("time limit") == std::string_view::npos) return;
    engine_->Freeze({id}, [&](bool all) { gone.set_value(all); });
  };
  const End end = Start(spec, observer).get();
  EXPECT_TRUE(gone.get_future().get());
  ASSERT_TRUE(end.result) << end.returned;
  EXPECT_EQ(end.result->status, "timeout");
  EXPECT_THAT(end.log, HasSubstr("in speedup_experiment"));
}

// Its sockets close before its children are handed on: swept at the end of file alone, they were
// found below a lane that was not gone yet, and lived on.
TEST_F(ProgramEngineTest, WhatAKilledLaneLeftIsSweptOnceTheLaneIsGone) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::promise<void> started, clean;
  std::atomic<pid_t> lane = 0;
  bool done = false;  // of the engine's thread
  swept_ = [&] {
    if (done || ReadProcessStat(lane)) return;
    done = true;
    KillTree({.root = getpid()});
    clean.set_value();
  };
  AttemptObserver observer;
  observer.log = [&](int64_t offset, std::string_view) {
    if (offset == 0) started.set_value();
  };
  auto end = Start(Shell("echo begun; sleep 600"), observer);
  started.get_future().wait();
  for (const ProcessStat& process : ListProcesses()) {
    if (process.parent == getpid()) lane = process.pid;
  }
  ASSERT_GT(lane, 0);
  kill(lane, SIGKILL);
  EXPECT_THAT(end.get().returned, HasSubstr("lane"));
  clean.get_future().wait();
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_F(ProgramEngineTest, BytesThatAreNoTextStayInTheLogAndOutOfTheResult) {
  const End end = Run(Shell("printf '\\377\\000\\376'; exit 3"));
  EXPECT_EQ(end.log, std::string("\xff\0\xfe", 3));
  EXPECT_EQ(end.result->detail.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace dynbench::worker

int main(int argc, char** argv) {
  if (const auto lane = dynbench::worker::RunAsProgramLane(argc, argv)) return *lane;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

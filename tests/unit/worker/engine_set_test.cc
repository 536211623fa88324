// Method: the native engine drives tests/props/scripted_runner; the engine for programs is held in
// the middle of its work by a launch profile that comes when the test lets it.
#include "worker/engine/engine_set.h"

#include <unistd.h>

#include <chrono>
#include <future>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

class EngineSetTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no python for the scripted runner";
    fs::create_directories(dir_ / "runner/shims");
    fs::copy_file(DYNBENCH_PROPS "/scripted_runner", dir_ / "runner/dynbench-runner");
    NativeEngineOptions options;
    options.state_dir = dir_ / "state";
    options.variables = OwnEnvironment();
    options.profile = [this](const std::string& name) -> absl::StatusOr<plan::LaunchProfile> {
      if (name == "held") {
        held_.set_value();
        let_go_.get_future().wait();
        return absl::NotFoundError("no such profile");
      }
      plan::LaunchProfile profile;
      profile.name = name;
      return profile;
    };
    set_ = std::make_unique<EngineSet>(options);
    Environment environment;
    environment.name = "default";
    environment.hash = std::string(64, 'a');
    environment.runner_dir = dir_ / "runner";
    set_->SetEnvironments({{"default", environment}});
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

  ScratchDir dir_;
  std::promise<void> held_, let_go_;
  std::unique_ptr<EngineSet> set_;
};

TEST_F(EngineSetTest, AThawDoesNotOvertakeTheFreezeBeforeItWhenAnEngineIsBusy) {
  std::promise<std::function<void(int64_t)>> asked;
  std::promise<plan::Outcome> ended;
  AttemptObserver observer;
  observer.window = [&](DeviceUse, std::function<void(int64_t)> granted) {
    asked.set_value(std::move(granted));
  };
  observer.finished = [&](const plan::Result& result, const std::string&) {
    ended.set_value(result.outcome);
  };
  const AttemptSpec spec = Spec(1, "phase:load+window+result");
  set_->Start(spec, observer);
  const auto granted = asked.get_future().get();

  AttemptSpec program = Spec(2, "a program");
  program.experiment.engine = "command";
  program.experiment.command = {"true"};
  program.experiment.profile = "held";
  std::promise<std::string> returned;
  AttemptObserver of_program;
  of_program.returned = [&](std::string reason) { returned.set_value(std::move(reason)); };
  set_->Start(program, of_program);
  held_.get_future().wait();

  std::promise<bool> frozen;
  set_->Freeze({spec.id}, [&](bool all) { frozen.set_value(all); });
  set_->Thaw({spec.id});
  let_go_.set_value();
  EXPECT_TRUE(frozen.get_future().get());
  EXPECT_EQ(returned.get_future().get(), "no such profile");
  granted(0);
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "it stands still";
  EXPECT_EQ(end.get(), plan::Outcome::kPassed);
}

}  // namespace
}  // namespace dynbench::worker

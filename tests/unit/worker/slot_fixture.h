// A slot with a fake engine whose attempts do what the test says, on a loop that the test turns
// until a condition holds. Files are real.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/agent/agent.h"
#include "worker/agent/slot.h"

namespace dynbench::worker {

namespace fs = std::filesystem;

// Called on the slot's loop, since the test's thread is the loop's.
class FakeEngine : public Engine {
 public:
  void Start(AttemptSpec spec, AttemptObserver observer) override {
    const AttemptId id = spec.id;
    order.push_back(id.experiment.value);
    running[id.experiment.value] = {std::move(spec), std::move(observer)};
  }
  void Cancel(const AttemptId& attempt, const std::string& reason) override {
    plan::Result result;
    result.outcome = plan::Outcome::kCancelled;
    result.error = reason;
    Finish(attempt.experiment.value, result);
  }
  void Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) override {
    for (const AttemptId& id : attempts) frozen.insert(id.experiment.value);
    done(freezes);
  }
  void Thaw(std::vector<AttemptId> attempts) override {
    for (const AttemptId& id : attempts) frozen.erase(id.experiment.value);
  }

  void Finish(int64_t experiment, plan::Result result) {
    auto node = running.extract(experiment);
    ASSERT_FALSE(node.empty()) << experiment;
    frozen.erase(experiment);  // nothing of it is left
    node.mapped().second.finished(std::move(result), "the log");
  }
  void Pass(int64_t experiment) {
    plan::Result result;
    result.outcome = plan::Outcome::kPassed;
    result.status = "pass";
    Finish(experiment, result);
  }

  std::map<int64_t, std::pair<AttemptSpec, AttemptObserver>> running;
  std::vector<int64_t> order;
  std::set<int64_t> frozen;
  bool freezes = true;  // whether what is frozen stands still
};

class SlotTest : public testing::Test {
 protected:
  SlotTest() { Make(1); }

  void Make(int lanes, const std::function<void(SlotShape*)>& change = nullptr) {
    fs::create_directories(dir_ / "runner");
    SlotServices services;
    services.loop = &loop_;
    services.preparer = preparer_.loop();
    services.janitor = janitor_.loop();
    services.engine = &engine_;
    services.folders = &folders_;
    services.caches = &caches_;
    services.artifacts = &artifacts_;
    services.state_dir = dir_.path();
    services.fetch_file = [](const std::string&) { return absl::UnavailableError("no network"); };
    services.environment = [this](const std::string& name) -> std::optional<Environment> {
      if (name != "default") return std::nullopt;
      Environment environment;
      environment.hash = std::string(64, 'a');
      environment.runner_dir = dir_ / "runner";
      environment.facts.torch_dir = dir_.path();
      environment.files = environment_files_;
      return environment;
    };
    services.profile = [](const std::string&) { return plan::LaunchProfile(); };
    services.gpu_state = [this](const std::string&) {
      ++gpu_asked_;
      return gpu_state_;
    };
    services.host_settings = [this] { return host_settings_; };
    SlotReports reports;
    reports.started = [](const v1::AttemptStarted&) {};
    reports.phase = [](const AttemptId&, plan::Phase) {};
    reports.finished = [this](v1::AttemptFinished f) { finished_.push_back(std::move(f)); };
    reports.returned = [this](const AttemptId& id, const std::string& reason, bool trouble) {
      returned_[id.experiment.value] = reason + (trouble ? " (trouble)" : "");
    };
    reports.stuck = [this](const std::vector<StuckProcess>& stuck) { stuck_ += stuck.size(); };
    reports.phase_limit = [this](const AttemptId& id, const std::string& reason) {
      limited_[id.experiment.value] = reason;
    };
    reports.running_changed = [] {};
    reports.activity = [this](Activity activity) { activities_.push_back(activity); };
    reports.ended = [this](const plan::Result& result) { told_.push_back("end " + result.status); };
    reports.infrastructure_failed = [this](const AttemptId& id, const std::string& status,
                                           const std::string& reason) {
      told_.push_back("failed " + status);
      infrastructure_failed_[id.experiment.value] = reason;
    };
    reports.trouble = [this] { ++troubles_; };
    SlotShape shape;
    shape.cores = {0, 1};
    shape.lanes = lanes;
    if (change) change(&shape);
    slot_ = std::make_unique<Slot>(shape, services, reports);
  }

  // Turns the loop until `condition` holds; a hang runs into the test's time limit.
  void Until(const std::function<bool()>& condition) {
    if (condition()) return;
    EventLoop::Task look = [&] {
      if (condition()) {
        loop_.Stop();
      } else {
        loop_.After(1, look);
      }
    };
    loop_.After(1, look);
    loop_.Run();
    loop_.Resume();
  }
  void UntilRunning(int64_t experiment) {
    Until([&] { return engine_.running.count(experiment) > 0; });
  }

  void Lease(int64_t epoch, const std::vector<int64_t>& ids, plan::Start start = plan::Start::kCold,
             const std::string& environment = "default",
             const std::vector<std::string>& diagnostics = {},
             const std::vector<v1::PhaseLimit>& limits = {}) {
    plan::Experiment experiment;
    experiment.start = start;
    experiment.environment = environment;
    experiment.diagnostics = diagnostics;
    LeaseOf(epoch, ids, experiment, limits);
  }
  void LeaseOf(int64_t epoch, const std::vector<int64_t>& ids, plan::Experiment experiment,
               const std::vector<v1::PhaseLimit>& limits = {}, double compile_weight = 0) {
    v1::Lease lease;
    lease.set_epoch(epoch);
    experiment.suite = "timm";
    if (experiment.model.empty()) experiment.model = "resnet50";
    for (const int64_t id : ids) {
      v1::PlannedExperiment& planned = *lease.add_experiments();
      planned.set_id(id);
      planned.set_job(job_);
      planned.set_json(plan::ToJson(experiment));
      *planned.mutable_phase_limits() = {limits.begin(), limits.end()};
      planned.set_compile_weight(compile_weight);
    }
    slot_->Add(lease);
  }

  ScratchDir dir_;
  int64_t job_ = 1;
  EventLoop loop_;
  FakeEngine engine_;
  Caches caches_{dir_ / "caches", dir_ / "shared", 1 << 30};
  WorkFolders folders_{dir_ / "work", 5};
  Artifacts artifacts_{dir_ / "artifacts", 1 << 20, 1 << 20};
  std::map<std::string, HashedFile> environment_files_;  // of "default", below dir_
  std::vector<v1::AttemptFinished> finished_;
  std::map<int64_t, std::string> returned_;
  std::map<int64_t, std::string> limited_;
  std::map<int64_t, std::string> infrastructure_failed_;
  std::vector<std::string> told_;  // of ends and failures of infrastructure, in order
  size_t stuck_ = 0;
  std::vector<Activity> activities_;
  int troubles_ = 0;
  std::optional<GpuState> gpu_state_;
  int gpu_asked_ = 0;
  std::map<std::string, std::string> host_settings_;
  LoopThread preparer_, janitor_;
  std::unique_ptr<Slot> slot_;
};

}  // namespace dynbench::worker

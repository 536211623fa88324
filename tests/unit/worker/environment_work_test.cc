// Method: the work alone on a loop that the test runs until a report has come, beside a coordinator
// that has the objects of the test; nothing is made, so no other program runs.
#include "worker/agent/environment_work.h"

#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/object_server.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/environments/places.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDeadlineMs = 30'000;

class EnvironmentWorkTest : public testing::Test {
 protected:
  EnvironmentWorkTest() {
    EnvironmentWork::Services services;
    services.loop = &loop_;
    services.environments_dir = dir_ / "environments";
    services.state_dir = dir_ / "state";
    services.processes = &processes_;
    services.channel = server_.channel();
    services.report = [this](const v1::EnvironmentReport& report) {
      reports_.push_back(report);
      if (report.state() == wanted_) loop_.Stop();
    };
    services.wants_rest = [] {};
    services.slots_rest = [this] { return rest_; };
    work_ = std::make_unique<EnvironmentWork>(std::move(services));
  }

  v1::EnvironmentOrder OrderOf(const std::string& action) const {
    v1::EnvironmentOrder order;
    order.set_id(id_);
    order.set_name("made");
    order.set_action(action);
    return order;
  }
  // What is reported until `state` is.
  std::vector<v1::EnvironmentReport> ReportsUntil(const std::string& state,
                                                  const v1::EnvironmentOrder& order) {
    wanted_ = state;
    work_->Order(order);
    const auto late = loop_.After(kDeadlineMs, [&] {
      ADD_FAILURE() << "no report of " << state;
      loop_.Stop();
    });
    loop_.Run();
    loop_.Resume();
    loop_.Cancel(late);
    return std::exchange(reports_, {});
  }
  // Registered here, of `manifest`.
  void Register(const std::string& manifest) {
    Environment environment;
    environment.name = "made";
    environment.id = id_;
    environment.runner_dir = dir_ / "runner";
    fs::create_directories(environment.runner_dir);
    WriteText(environment.RunnerPath(), "");
    fs::permissions(environment.RunnerPath(), fs::perms::owner_all);
    ASSERT_TRUE(SaveEnvironment(dir_ / "environments", environment).ok());
    fs::create_directories(dir_ / "environments/manifests");
    WriteText(ManifestPath(dir_ / "environments", id_), manifest);
  }

  const ScratchDir dir_;
  const std::string id_ = std::string(64, 'a');
  ObjectServer server_;
  EventLoop loop_;
  OwnedProcesses processes_;
  std::vector<v1::EnvironmentReport> reports_;
  std::string wanted_;
  bool rest_ = false;
  std::unique_ptr<EnvironmentWork> work_;  // last: it ends first
};

TEST_F(EnvironmentWorkTest, AnOrderWithABadNameIsAnswered) {
  v1::EnvironmentOrder order = OrderOf("derive");
  order.set_name("feature/fusion");
  const auto reports = ReportsUntil("failed", order);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].id(), id_);
  EXPECT_TRUE(absl::StrContains(reports[0].reason(), "feature/fusion")) << reports[0].reason();
}

TEST_F(EnvironmentWorkTest, WhatIsGoneAlreadyIsRemovedWithoutRest) {
  EXPECT_EQ(ReportsUntil("removed", OrderOf("remove")).size(), 1u);
  EXPECT_EQ(work_->Active(), "");
  // Half of it is something: the slots have to rest.
  fs::create_directories(FolderOfEnvironment(dir_ / "environments", id_));
  ReportsUntil("waiting", OrderOf("remove"));
  EXPECT_EQ(work_->Active(), "made");
  rest_ = true;
  loop_.Post([this] { work_->SlotsChanged(); });
  ReportsUntil("removed", OrderOf("remove"));
  EXPECT_FALSE(fs::exists(FolderOfEnvironment(dir_ / "environments", id_)));
}

TEST_F(EnvironmentWorkTest, AnotherBuildUnderTheSameIdIsNotTheOneThatIsOrdered) {
  Register("what this host built");
  v1::EnvironmentOrder order = OrderOf("install");
  order.set_manifest_sha256(Sha256Hex("what this host built"));
  EXPECT_EQ(ReportsUntil("ready", order).size(), 1u);

  order.set_manifest_sha256(Sha256Hex("what another host built"));
  ReportsUntil("waiting", order);
  rest_ = true;
  loop_.Post([this] { work_->SlotsChanged(); });
  const auto reports = ReportsUntil("lacking", order);
  ASSERT_EQ(reports.back().missing_size(), 1);
  EXPECT_EQ(reports.back().missing(0), order.manifest_sha256());
  // One job must not run over two builds.
  EXPECT_TRUE(LoadEnvironments(dir_ / "environments", nullptr).empty());
}

}  // namespace
}  // namespace dynbench::worker

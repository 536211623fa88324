// Method: a small fleet in simulated time whose script makes every message of the session happen.
// For each message one side is killed before or after it is sent or received, and comes back a
// second later; the oracle then demands what it always does: every experiment exactly one result,
// nothing acknowledged that was not committed, no slot with two live leases.
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "spdlog/spdlog.h"
#include "tests/simulation/episode.h"

namespace dynbench::simulation {
namespace {

constexpr int64_t kDownNs = kNsPerSecond;

struct Cell {
  Side from = Side::kWorker;
  std::string message;
  Moment moment = Moment::kBeforeSend;
  bool receiver = false;  // who is killed
  int occurrence = 1;
  std::string detail = {};  // of an environment: its action or state; empty: any
};

std::string NameOf(const Cell& cell) {
  static constexpr const char* kMoments[] = {"before_send", "after_send", "before_receive",
                                             "after_receive"};
  return absl::StrCat(cell.message, cell.detail.empty() ? "" : "_", cell.detail, "_of_",
                      cell.from == Side::kWorker ? "worker" : "coordinator", "_",
                      kMoments[static_cast<int>(cell.moment)], "_kills_",
                      cell.receiver ? "receiver" : "sender", "_", cell.occurrence);
}

std::vector<std::string> Messages(const google::protobuf::Descriptor* descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor->oneof_decl(0)->field_count(); ++i) {
    names.push_back(descriptor->oneof_decl(0)->field(i)->name());
  }
  return names;
}

std::vector<Cell> AllCells() {
  std::vector<Cell> cells;
  const auto add = [&](Side from, const std::vector<std::string>& messages,
                       const std::string& detail = "") {
    for (const std::string& message : messages) {
      for (const int occurrence : {1, 2, 5}) {
        for (const Moment moment : {Moment::kBeforeSend, Moment::kAfterSend, Moment::kBeforeReceive,
                                    Moment::kAfterReceive}) {
          for (const bool receiver : {false, true}) {
            cells.push_back({from, message, moment, receiver, occurrence, detail});
          }
        }
      }
    }
  };
  add(Side::kWorker, Messages(v1::WorkerMessage::descriptor()));
  add(Side::kCoordinator, Messages(v1::CoordinatorMessage::descriptor()));
  // Messages of one field that mean different things.
  for (const char* state : {"ready", "lacking", "sent"}) {
    add(Side::kWorker, {"environment"}, state);
  }
  for (const char* action : {"build", "install", "send"}) {
    add(Side::kCoordinator, {"environment"}, action);
  }
  return cells;
}

Scenario SmallFleet() {
  Scenario scenario;
  scenario.name = "kill_matrix";
  scenario.workers = {2, 2};
  scenario.slots = {1, 1};
  scenario.jobs = {2, 2};
  scenario.experiments = {16, 16};
  scenario.models = {4, 4};
  scenario.submit_s = {3, 4};
  scenario.nightly = 0;
  scenario.balanced = 0;
  scenario.follow = 1;
  scenario.cancel = 1;
  scenario.duration_s = {2, 8};
  return scenario;
}

// So that every message happens, most of them more than once.
void Script(Episode* episode) {
  const auto at = [episode](double seconds, std::function<void()> what) {
    episode->world()->timeline.After(static_cast<int64_t>(seconds * kNsPerSecond), std::move(what));
  };
  Coordinator* coordinator = episode->coordinator();
  const auto ignore = [](bool) {};
  for (double t = 6; t < 40; t += 7) {
    at(t, [=] { coordinator->FollowLog(ExperimentId(static_cast<int64_t>(t / 3))); });
    at(t + 0.5, [=] { episode->worker(0)->TellSlots(); });
    at(t + 0.6, [=] { episode->worker(0)->TellEnvironments(); });
    at(t + 0.7, [=] { coordinator->BuildEnvironment(absl::StrCat("built-", t)); });
    at(t + 1, [=] { episode->worker(0)->ReturnOne(); });
    at(t + 1.5, [=] { coordinator->Drain(1, 500); });
    at(t + 3, [=] { coordinator->Release(1, std::nullopt, ignore); });
    at(t + 3.5, [=] { coordinator->Quarantine(0, 0); });
    at(t + 4.5, [=] { coordinator->Release(0, 0, ignore); });
  }
  for (const double t : {12.2, 33.3}) {
    at(t, [=] { coordinator->Stop([=] { at(1, [=] { coordinator->Start(); }); }); });
  }
  // Whatever was killed: in the end nothing is held back.
  for (double t = 60; t < 180; t += 5) {
    at(t, [=] {
      coordinator->Release(0, std::nullopt, ignore);
      coordinator->Release(1, std::nullopt, ignore);
    });
  }
}

// Whether the moment came.
bool RunCell(const Cell& cell, uint64_t seed, Report* report) {
  const Scenario scenario = SmallFleet();
  Episode episode(&scenario, seed);
  Script(&episode);
  int seen = 0;
  bool killed = false;
  episode.world()->tap = [&](const MessageMoment& m) {
    if (killed || m.moment != cell.moment || m.from != cell.from || cell.message != m.message ||
        (!cell.detail.empty() && cell.detail != m.detail)) {
      return;
    }
    if (++seen < cell.occurrence) return;
    killed = true;
    if ((m.from == Side::kWorker) != cell.receiver) {
      Worker* worker = episode.worker(m.worker);
      worker->Kill(/*silent=*/false);
      episode.world()->timeline.After(kDownNs, [worker] { worker->Boot(); });
    } else {
      Coordinator* coordinator = episode.coordinator();
      coordinator->Kill(/*silent=*/false);
      episode.world()->timeline.After(kDownNs, [coordinator] { coordinator->Start(); });
    }
  };
  *report = episode.Run();
  return killed;
}

class KillMatrixTest : public ::testing::TestWithParam<Cell> {};

TEST_P(KillMatrixTest, EveryExperimentEndsExactlyOnce) {
  const Cell& cell = GetParam();
  int killed = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Report report;
    killed += RunCell(cell, seed, &report);
    EXPECT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
  // Some happen once in a life only.
  if (cell.occurrence == 1) {
    EXPECT_GT(killed, 0) << "this message never came";
  } else if (killed == 0) {
    GTEST_SKIP() << "this message never came so often";
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, KillMatrixTest, ::testing::ValuesIn(AllCells()),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace dynbench::simulation

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  spdlog::set_level(spdlog::level::off);
  return RUN_ALL_TESTS();
}

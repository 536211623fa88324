// Phases against a recording sender, and frozen time against spans worked out by hand.
#include "worker/runner/phases.h"

#include <vector>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

TEST(PhasesTest, EachIsAnnouncedOnceAndListedInOrder) {
  std::vector<std::string> sent;
  Phases phases([&](const nlohmann::json& message) {
    EXPECT_EQ(message.at("type"), "phase");
    EXPECT_GT(message.at("t_ns"), 0);
    sent.push_back(message.at("phase"));
  });
  phases.Begin("load");
  phases.Begin("eager");
  EXPECT_EQ(phases.current(), "eager");
  const nlohmann::json ended = phases.Finish();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(sent, (std::vector<std::string>{"load", "eager"}));
  EXPECT_EQ(ended[0].at("phase"), "load");
  EXPECT_GE(ended[0].at("duration_ns"), 0);
  EXPECT_EQ(ended[1].at("phase"), "eager");
}

TEST(PhasesTest, FrozenTimeIsWhatOverlaps) {
  Phases phases([](const nlohmann::json&) {});
  phases.AddFrozen(10, 20);
  phases.AddFrozen(30, 35);
  EXPECT_EQ(phases.FrozenWithin(0, 100), 15);
  EXPECT_EQ(phases.FrozenWithin(15, 32), 7);
  EXPECT_EQ(phases.FrozenWithin(20, 30), 0);
  EXPECT_EQ(phases.FrozenWithin(12, 14), 2);
  // Waited for a window from 32 to 50, frozen for another one's meanwhile.
  phases.AddFrozen(40, 45);
  phases.AddFrozen(32, 50);
  EXPECT_EQ(phases.FrozenWithin(0, 100), 30);
  EXPECT_EQ(phases.FrozenWithin(42, 60), 8);
}

}  // namespace
}  // namespace dynbench::runner

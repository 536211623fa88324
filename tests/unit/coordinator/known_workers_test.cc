// Method: rows of workers as the store gives them, with ages that the test chooses.
#include "coordinator/session/known_workers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;
constexpr UnixTimeMs kNow{100 * kDayMs};

std::vector<std::string> Known(int64_t age_ms, const store::HoldRows& holds = {}) {
  store::WorkerInfo worker;
  worker.id = WorkerId("w");
  worker.host = "bench-7";
  worker.environments_json = R"([{"name": "default", "devices": ["cpu"]}])";
  worker.labels_json = "{}";
  worker.last_seen = {kNow.ms - age_ms};
  std::vector<std::string> ids;
  for (const auto& known : KnownWorkers({worker}, {{{WorkerId("w"), 0}, "cpu"}}, kNow, holds)) {
    ids.push_back(known.worker.value);
    EXPECT_EQ(known.slots.at(0).environments.count("default"), 1u);
  }
  return ids;
}

TEST(KnownWorkersTest, OneThatIsAwayIsWaitedForAWeek) {
  EXPECT_THAT(Known(7 * kDayMs), ElementsAre("w"));
  EXPECT_THAT(Known(7 * kDayMs + 1), ElementsAre());
}

TEST(KnownWorkersTest, OneThatAnOperatorTookOutIsExpectedBack) {
  store::HoldRows drained, quarantined;
  drained.drains.push_back({WorkerId("w"), "new driver", {}});
  quarantined.quarantines.push_back({{WorkerId("w"), 3}, "fan", "operator", {}});
  EXPECT_THAT(Known(50 * kDayMs, drained), ElementsAre("w"));
  EXPECT_THAT(Known(50 * kDayMs, quarantined), ElementsAre("w"));
  drained.drains[0].worker = WorkerId("another");
  EXPECT_THAT(Known(50 * kDayMs, drained), ElementsAre());
}

}  // namespace
}  // namespace dynbench::session

// Method: what workers, drains and the clock do to two slots is told in milliseconds; the spans
// must be those worked out by hand. A random walk, its seed printed, shows that for any order of
// events the recorded spans neither overlap nor leave a gap.
#include "coordinator/session/slot_times.h"

#include <algorithm>
#include <iostream>
#include <random>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

using testing::ElementsAre;

const WorkerId kWorker("w");
const SlotId kSlot{kWorker, 0};

// What a store would hold after these calls: a span with the same beginning is replaced.
class Recorder {
 public:
  void Record(const std::vector<store::SlotSpan>& spans) {
    for (const store::SlotSpan& span : spans) {
      auto& of_slot = spans_[span.slot];
      of_slot.erase(span.since.ms);
      if (span.until.ms > span.since.ms) of_slot[span.since.ms] = {span.until.ms, span.reason};
    }
  }
  using Spans = std::vector<std::tuple<int64_t, int64_t, std::string>>;
  Spans Of(const SlotId& slot) {
    Spans all;
    for (const auto& [since, rest] : spans_[slot]) all.push_back({since, rest.first, rest.second});
    return all;
  }

 private:
  std::map<SlotId, std::map<int64_t, std::pair<int64_t, std::string>>> spans_;
};

using Span = std::tuple<int64_t, int64_t, std::string>;

TEST(SlotTimesTest, AnExperimentAndTheIdleTimeAroundIt) {
  SlotTimes times;
  Recorder store;
  times.Joined(kWorker, {{0, ""}}, {100});
  times.Does(kSlot, "preparing", {200}, {210});
  times.Does(kSlot, "measuring", {300}, {310});
  EXPECT_EQ(times.ActivityOf(kSlot), "measuring");
  store.Record(times.Take({350}, true));
  times.Does(kSlot, "idle", {400}, {410});
  times.Held(kWorker, {{0, "drained"}}, {500});
  store.Record(times.Take({600}, true));
  EXPECT_THAT(store.Of(kSlot), ElementsAre(Span{100, 200, "no_work"}, Span{200, 300, "preparing"},
                                           Span{300, 400, "measuring"}, Span{400, 500, "no_work"},
                                           Span{500, 600, "drained"}));
}

TEST(SlotTimesTest, WhatItDidUnheardIsNotDisconnection) {
  SlotTimes times;
  Recorder store;
  times.Joined(kWorker, {{0, ""}}, {100});
  times.Left(kWorker, {200});
  store.Record(times.Take({300}, true));
  times.Joined(kWorker, {{0, ""}}, {900});
  times.Does(kSlot, "measuring", {250}, {901});
  times.Does(kSlot, "idle", {700}, {901});
  store.Record(times.Take({1'000}, true));
  EXPECT_THAT(store.Of(kSlot),
              ElementsAre(Span{100, 200, "no_work"}, Span{200, 250, "disconnected"},
                          Span{250, 700, "measuring"}, Span{700, 1'000, "no_work"}));
}

TEST(SlotTimesTest, AWorkerThatSaysNothingIsIdleFromWhenItCame) {
  SlotTimes times;
  Recorder store;
  times.Load({{kSlot, {50}, {100}, "measuring"}});
  times.Joined(kWorker, {{0, ""}}, {400});
  store.Record(times.Take({401}, true));
  store.Record(times.Take({400 + SlotTimes::kTellMs}, true));
  EXPECT_THAT(store.Of(kSlot), ElementsAre(Span{100, 400, "disconnected"},
                                           Span{400, 400 + SlotTimes::kTellMs, "no_work"}));
}

TEST(SlotTimesTest, UnknownSlotsAndWordsChangeNothing) {
  SlotTimes times;
  times.Joined(kWorker, {{0, ""}}, {100});
  times.Does({kWorker, 7}, "measuring", {150}, {150});
  times.Does(kSlot, "daydreaming", {150}, {150});
  EXPECT_THAT(times.Take({200}, true), testing::SizeIs(1));
}

TEST(SlotTimesTest, AnyWalkCoversAllTimeOnce) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  SlotTimes times;
  Recorder store;
  int64_t now = 1'000;
  times.Joined(kWorker, {{0, ""}, {1, ""}}, {now});
  const std::vector<std::string> states = {"", "drained", "quarantined", "disk_low"};
  const std::vector<std::string> activities = {"idle", "measuring", "compiling", "cleaning"};
  for (int step = 0; step < 20'000; ++step) {
    now += pick(50);
    const SlotId slot{kWorker, pick(2)};
    switch (pick(6)) {
      case 0:
        times.Left(kWorker, {now - pick(200)});
        break;
      case 1:
        times.Joined(kWorker, {{0, ""}, {1, states[pick(4)]}}, {now});
        break;
      case 2:
        times.Held(kWorker, {{slot.index, states[pick(4)]}}, {now});
        break;
      case 3:
        store.Record(times.Take({now}, pick(2) == 0));
        break;
      default:
        times.Does(slot, activities[pick(4)], {now - pick(300)}, {now});
    }
  }
  store.Record(times.Take({now}, true));
  for (const int index : {0, 1}) {
    int64_t end = 1'000;
    for (const auto& [since, until, reason] : store.Of({kWorker, index})) {
      ASSERT_EQ(since, end) << reason;
      end = until;
    }
    EXPECT_EQ(end, now);
  }
}

}  // namespace
}  // namespace dynbench::session

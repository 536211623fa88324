// Method: real loops; a task that holds the thread stands for a stopped process.
#include "coordinator/session/event_loop.h"

#include <atomic>
#include <future>

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

TEST(EventLoopTest, RunsTasksInOrderAndAllOfThemBeforeItStops) {
  ThreadedEventLoop loop;
  loop.Start(kNsPerSecond,
             {[](MonotonicTime now) { return now + kNsPerSecond; }, [](MonotonicTime, int64_t) {}});
  std::vector<int> ran;
  for (int i = 0; i < 100; ++i) loop.Post([&ran, i] { ran.push_back(i); });
  loop.Stop();
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
}

TEST(EventLoopTest, TimersComeNotBeforeTheirTime) {
  ThreadedEventLoop loop;
  loop.Start(kNsPerSecond, {[](MonotonicTime now) { return now + 10 * kNsPerSecond; },
                            [](MonotonicTime, int64_t) {}});
  const MonotonicTime begin = MonotonicNow();
  std::promise<MonotonicTime> fired;
  loop.PostAfter(20 * kNsPerMs, [&] { fired.set_value(MonotonicNow()); });
  EXPECT_GE(fired.get_future().get() - begin, 20 * kNsPerMs);
}

TEST(EventLoopTest, APauseIsReportedBeforeAnythingThatCameMeanwhile) {
  constexpr int64_t kThresholdNs = 50 * kNsPerMs;
  std::vector<std::string> order;
  std::promise<void> done;
  ThreadedEventLoop loop;
  loop.Start(kThresholdNs, {[](MonotonicTime now) { return now + kNsPerSecond; },
                            [&](MonotonicTime, int64_t gap_ns) {
                              EXPECT_GT(gap_ns, kThresholdNs);
                              order.push_back("resumed");
                            }});
  loop.Post([&] {
    loop.Post([&] {
      order.push_back("queued meanwhile");
      done.set_value();
    });
    const MonotonicTime until = MonotonicNow() + 2 * kThresholdNs;
    while (MonotonicNow() < until) {
    }
  });
  done.get_future().get();
  loop.Stop();
  ASSERT_GE(order.size(), 2u);
  EXPECT_EQ(order[0], "resumed");
  EXPECT_EQ(order[1], "queued meanwhile");
}

}  // namespace
}  // namespace dynbench::session

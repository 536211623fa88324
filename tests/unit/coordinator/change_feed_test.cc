// Method: publish while nobody takes, then take: a slow watcher must get the newest of each row,
// once, and be woken once.
#include "coordinator/session/change_feed.h"

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

v1::ResultRow Row(int64_t id, const std::string& state) {
  v1::ResultRow row;
  row.mutable_experiment()->set_id(id);
  row.set_state(state);
  return row;
}

v1::Job JobWith(int64_t id, int64_t passed) {
  v1::Job job;
  job.set_id(id);
  job.mutable_coverage()->set_passed(passed);
  return job;
}

TEST(ChangeFeedTest, ASlowWatcherGetsTheNewestOfEachRowAndOneWake) {
  ChangeFeed feed;
  int wakes = 0;
  auto watcher = feed.Subscribe(JobId(1), true, [&] { ++wakes; });
  EXPECT_FALSE(watcher->Take().has_value());
  feed.PublishRow(JobId(1), Row(7, "running"));
  feed.PublishRow(JobId(1), Row(8, "running"));
  feed.PublishRow(JobId(1), Row(7, "done"));
  feed.PublishJob(JobWith(1, 1), false);
  feed.PublishJob(JobWith(1, 2), true);
  feed.PublishRow(JobId(2), Row(9, "done"));
  EXPECT_EQ(wakes, 1);
  const auto change = watcher->Take();
  ASSERT_TRUE(change.has_value());
  ASSERT_EQ(change->rows.size(), 2u);
  EXPECT_EQ(change->rows[0].state(), "done");
  EXPECT_EQ(change->job->coverage().passed(), 2);
  EXPECT_TRUE(change->finished);
  EXPECT_FALSE(watcher->Take().has_value());
}

TEST(ChangeFeedTest, NothingComesAfterUnsubscribe) {
  ChangeFeed feed;
  int wakes = 0;
  auto watcher = feed.Subscribe(JobId(1), true, [&] { ++wakes; });
  feed.Unsubscribe(watcher);
  EXPECT_FALSE(feed.HasWatchers(JobId(1)));
  feed.PublishRow(JobId(1), Row(7, "running"));
  EXPECT_EQ(wakes, 0);
}

TEST(ChangeFeedTest, CloseEndsThoseThatWatchAndThoseThatCome) {
  ChangeFeed feed;
  auto before = feed.Subscribe(JobId(1), false, [] {});
  feed.Close();
  auto after = feed.Subscribe(JobId(1), false, [] {});
  EXPECT_TRUE(before->Take()->closed);
  EXPECT_TRUE(after->Take()->closed);
}

}  // namespace
}  // namespace dynbench::session

// Method: the real writer with old and young events in its store; a keeper that looks all the time
// must drop the old ones while other changes go on, and end when it is told to.
#include "coordinator/ingest/retention_keeper.h"

#include <future>

#include "tests/unit/store/fixture.h"

namespace dynbench::ingest {
namespace {

class RetentionKeeperTest : public testing::Test {
 protected:
  RetentionKeeperTest()
      : ingest_(store::OpenOrDie(folder_.File("d.db"), store::Access::kReadWrite)) {}

  void Event(int64_t age_ms) {
    ASSERT_OK(ingest_.ApplyAndWait([age_ms](store::Database& db) {
      return store::RecordEvent(db, "test", "s", "", {UnixNow().ms - age_ms});
    }));
  }
  int64_t Events() {
    int64_t count = 0;
    EXPECT_OK(ingest_.ApplyAndWait([&](store::Database& db) {
      store::Statement query(db, "SELECT count(*) FROM event");
      absl::Status status = query.Step().status();
      count = query.Int(0);
      return status;
    }));
    return count;
  }

  store::TempFolder folder_;
  Ingest ingest_;
};

TEST_F(RetentionKeeperTest, OldEventsGoYoungOnesStay) {
  for (int i = 0; i < 500; ++i) Event(i % 2 == 0 ? 10'000'000 : 0);
  RetentionOptions options;
  options.activity_ms = 5'000'000;
  options.pause_ms = 1;
  const RetentionKeeper keeper(options, &ingest_);
  int64_t events = 500;
  while (events > 250) events = Events();  // a keeper that does nothing runs into the time limit
  EXPECT_EQ(events, 250);
}

TEST_F(RetentionKeeperTest, WithoutAnythingToDropNothingHappens) {
  Event(10'000'000);
  { const RetentionKeeper keeper({}, &ingest_); }
  EXPECT_EQ(Events(), 1);
}

TEST_F(RetentionKeeperTest, ItEndsAtOnceThoughItWaits) {
  RetentionOptions options;
  options.samples_ms = 1;
  const MonotonicTime start = MonotonicNow();
  { const RetentionKeeper keeper(options, &ingest_); }
  EXPECT_LT(MonotonicNow() - start, 60 * kNsPerSecond);
}

}  // namespace
}  // namespace dynbench::ingest

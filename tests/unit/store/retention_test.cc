// Method: more results than one step looks at, half of them old; after a pass the old samples, logs
// and spans are gone, the young ones and every result are there.
#include "common/store/retention.h"

#include "common/store/slot_time.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

class RetentionTest : public StoreTest {};

TEST_F(RetentionTest, OldEvidenceGoesResultsStay) {
  constexpr int kAll = 2 * kRetentionStepRows + 50;
  const InsertedJob job = Submit(MakeJob(std::vector<std::string>(kAll, "m")));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_OK(Write([&] {
    for (int i = 0; i < kAll; ++i) {
      absl::Status status = RecordResult(*db_, {job.experiments[i], LeaseEpoch(1)}, MakeResult(),
                                         "log", {3'000}, {7'000}, {i < kAll / 2 ? 8'000 : 90'000})
                                .status();
      if (!status.ok()) return status;
    }
    return RecordSpans(*db_, {{{WorkerId("w"), 0}, {1'000}, {2'000}, "no_work"},
                              {{WorkerId("w"), 0}, {2'000}, {99'000}, "measuring"}});
  }));

  RetentionCursor cursor;
  int steps = 0;
  while (!cursor.done) {
    ASSERT_LT(++steps, 20);
    ASSERT_OK(Write([&] {
      const auto next = DropSome(*db_, {{50'000}, {50'000}, {50'000}}, cursor);
      if (next.ok()) cursor = *next;
      return next.status();
    }));
  }
  EXPECT_GT(steps, 1);
  EXPECT_EQ(cursor.samples_dropped, kAll / 2);
  EXPECT_EQ(cursor.logs_dropped, kAll / 2);
  EXPECT_EQ(cursor.activity_dropped, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM sample"), kAll - kAll / 2);
  EXPECT_EQ(Number("SELECT count(*) FROM artifact WHERE kind = 'log'"), kAll - kAll / 2);
  EXPECT_EQ(Number("SELECT count(*) FROM slot_span"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM result"), kAll);
  const auto row = GetExperiment(*db_, job.experiments.front());
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->result->metrics.speedup, 1.25);
}

TEST_F(RetentionTest, WithoutATimeNothingGoes) {
  const InsertedJob job = Submit(MakeJob({"m"}));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_TRUE(Record(job.experiments[0], 1, MakeResult(), "log").ok());
  const auto cursor = DropSome(*db_, {}, {});
  ASSERT_TRUE(cursor.ok() && cursor->done);
  EXPECT_EQ(Number("SELECT count(*) FROM sample"), 1);
}

}  // namespace
}  // namespace dynbench::store

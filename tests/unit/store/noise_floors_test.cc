// Method: floors are written through one connection and read through another; a later calibration
// of a series on a host takes the place of an earlier one, and of no other's.
#include "common/store/noise_floors.h"

#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

class NoiseFloorsTest : public StoreTest {
 protected:
  std::vector<NoiseFloorRow> Loaded(JobId job = JobId()) {
    const auto reader = OpenOrDie(Path(), Access::kReadOnly);
    const auto rows = ListNoiseFloors(*reader, job);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *rows : std::vector<NoiseFloorRow>();
  }
  JobId Job() {
    JobId job;
    EXPECT_OK(Write([&] {
      const auto inserted = InsertJob(*db_, MakeJob({"m"}));
      if (inserted.ok()) job = inserted->job;
      return inserted.status();
    }));
    return job;
  }
};

TEST_F(NoiseFloorsTest, TheLatestOfASeriesOnAHostCounts) {
  const JobId first = Job(), second = Job();
  const NoiseFloorRow a{"s", "host-a", "speedup", 0.01, 8, 0.001, 10, first, {1'000}};
  NoiseFloorRow b = a, later = a;
  b.worker_host = "host-b";
  later.between_variance = 0.02;
  later.job = second;
  later.measured_at = {2'000};
  ASSERT_OK(Write([&] { return PutNoiseFloors(*db_, {a, b}); }));
  ASSERT_OK(Write([&] { return PutNoiseFloors(*db_, {later}); }));
  const auto all = Loaded();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].worker_host, "host-a");
  EXPECT_DOUBLE_EQ(all[0].between_variance, 0.02);
  EXPECT_DOUBLE_EQ(all[0].within_variance, 0.001);
  EXPECT_EQ(all[0].processes, 10);
  EXPECT_EQ(all[0].measured_at.ms, 2'000);
  ASSERT_EQ(Loaded(first).size(), 1u);
  EXPECT_EQ(Loaded(first)[0].worker_host, "host-b");
}

TEST_F(NoiseFloorsTest, WhatEndedAfterTheNewestIsNamedInTheOrderOfItsEnd) {
  std::vector<JobId> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(Job());
  const auto end = [&](size_t job, int64_t at_ms) {
    ASSERT_OK(Write([&] {
      Statement update(*db_,
                       "UPDATE job SET state = 'finished', skipped = planned, finished_unix_ms = ?"
                       " WHERE id = ?");
      return update.Bind(at_ms, jobs[job]).Run();
    }));
  };
  const auto ended = [&](int most) {
    const auto found = EndedSinceNoiseFloors(*db_, most);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : std::vector<JobId>();
  };
  end(0, 3'000);
  end(1, 1'000);
  end(2, 2'000);
  end(3, 5'000);  // the last one runs
  EXPECT_EQ(ended(10), (std::vector<JobId>{jobs[1], jobs[2], jobs[0], jobs[3]}));
  EXPECT_EQ(ended(2), (std::vector<JobId>{jobs[0], jobs[3]})) << "the ones that ended last";
  NoiseFloorRow floor{"s", "host-a", "speedup", 0.01, 8, 0.001, 10, jobs[0], {3'001}};
  ASSERT_OK(Write([&] { return PutNoiseFloors(*db_, {floor}); }));
  EXPECT_EQ(ended(10), (std::vector<JobId>{jobs[3]})) << "a later run's floors are not undone";
  floor.job = jobs[3];
  floor.series = "t";
  floor.measured_at = {5'000};
  ASSERT_OK(Write([&] { return PutNoiseFloors(*db_, {floor}); }));
  EXPECT_EQ(ended(10), std::vector<JobId>()) << "it has its own";
}

}  // namespace
}  // namespace dynbench::store

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

}  // namespace
}  // namespace dynbench::store

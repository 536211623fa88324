// Method: a worker that gets another kernel and another torch between two experiments; each row
// must still tell what it was measured on.
#include "common/store/provenance.h"

#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;
using ProvenanceTest = StoreTest;

TEST_F(ProvenanceTest, IsThatOfTheMeasurement) {
  const auto job = Submit(MakeJob({"a", "b", "c"}));
  ASSERT_OK(Lease(1, {job.experiments[0]}));
  ASSERT_OK(Write([&] {
    return RecordStarted(*db_, {job.experiments[0], LeaseEpoch(1)}, {2'500});
  }));
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  ASSERT_OK(Write([&] {
    return UpsertWorker(*db_,
                        {WorkerId("w"),
                         "host-w",
                         "1",
                         R"({"cores":2,"kernel":"6.2"})",
                         R"([{"name":"default","hash":"def","torch_version":"2.15.0"}])",
                         {"cpu", "cpu"}},
                        {2'900});
  }));
  ASSERT_OK(Lease(2, {job.experiments[1]}));
  ASSERT_OK(Write([&] {
    return RecordStarted(*db_, {job.experiments[1], LeaseEpoch(2)}, {3'500});
  }));
  const auto before = GetProvenance(*db_, job.experiments[0]);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->inventory_json, R"({"cores":2})");
  EXPECT_THAT(before->environment_json, HasSubstr("2.14.1"));
  const auto after = GetProvenance(*db_, job.experiments[1]);
  ASSERT_TRUE(after.ok()) << "of one that still runs";
  EXPECT_THAT(after->inventory_json, HasSubstr("6.2"));
  EXPECT_THAT(after->environment_json, HasSubstr("2.15.0"));
  const auto waiting = GetProvenance(*db_, job.experiments[2]);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting->inventory_json, "");
  EXPECT_TRUE(absl::IsNotFound(GetProvenance(*db_, ExperimentId(99)).status()));
}

}  // namespace
}  // namespace dynbench::store

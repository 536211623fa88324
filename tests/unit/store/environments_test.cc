// Method: rows are written, replaced and read back through a second connection; what the schema
// forbids must fail; what is in use is what experiments of a real job name.
#include "common/store/environments.h"

#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

FleetEnvironmentRow RowOf(char digit, const std::string& name) {
  FleetEnvironmentRow row;
  row.id = std::string(64, digit);
  row.name = name;
  row.kind = "built";
  row.state = "making";
  row.origin_json = "{}";
  row.created_at = {digit};
  return row;
}

class EnvironmentsTest : public StoreTest {
 protected:
  absl::Status Put(const FleetEnvironmentRow& row) {
    return Write([&] { return PutFleetEnvironment(*db_, row); });
  }
  FleetEnvironments Loaded() {
    const auto reader = OpenOrDie(Path(), Access::kReadOnly);
    auto all = LoadFleetEnvironments(*reader);
    EXPECT_TRUE(all.ok()) << all.status();
    return all.ok() ? *all : FleetEnvironments();
  }
};

TEST_F(EnvironmentsTest, ARowIsReplacedByItsIdAndReadBackWhole) {
  FleetEnvironmentRow row = RowOf('a', "night");
  ASSERT_OK(Put(row));
  row.state = "ready";
  row.manifest = std::string(64, 'b');
  row.hash = "h";
  row.libraries = "l";
  row.torch_version = "2";
  row.builder = WorkerId("w");
  row.deaths = 1;
  row.files = 3;
  row.size_bytes = 4;
  row.log = std::string("a\0b", 3);
  row.finished_at = {9};
  ASSERT_OK(Put(row));
  ASSERT_OK(Write([&] {
    return PutEnvironmentPlace(*db_, {row.id, WorkerId("v"), "unfit", "no", {7}});
  }));
  const FleetEnvironments all = Loaded();
  ASSERT_EQ(all.environments.size(), 1u);
  const FleetEnvironmentRow& read = all.environments[0];
  EXPECT_EQ(read.state, "ready");
  EXPECT_EQ(read.manifest, row.manifest);
  EXPECT_EQ(read.libraries, "l");
  EXPECT_EQ(read.builder.value, "w");
  EXPECT_EQ(read.deaths, 1);
  EXPECT_EQ(read.log, row.log);
  EXPECT_EQ(read.finished_at.ms, 9);
  ASSERT_EQ(all.places.size(), 1u);
  EXPECT_EQ(all.places[0].reason, "no");
  ASSERT_OK(Write([&] { return DeleteEnvironmentPlace(*db_, row.id, WorkerId("another")); }));
  EXPECT_EQ(Loaded().places.size(), 1u);
  ASSERT_OK(Write([&] { return DeleteEnvironmentPlace(*db_, row.id, all.places[0].worker); }));
  EXPECT_TRUE(Loaded().places.empty());
  ASSERT_OK(Write([&] { return PutEnvironmentPlace(*db_, all.places[0]); }));
  ASSERT_OK(Write([&] { return DeleteEnvironmentPlaces(*db_, row.id); }));
  EXPECT_TRUE(Loaded().places.empty());
}

TEST_F(EnvironmentsTest, OneNameIsReadyOnceAndReadyHasAManifest) {
  FleetEnvironmentRow first = RowOf('a', "night"), second = RowOf('b', "night");
  first.state = second.state = "ready";
  EXPECT_FALSE(Put(first).ok());  // no manifest
  first.manifest = second.manifest = std::string(64, 'c');
  first.hash = second.hash = "h";
  ASSERT_OK(Put(first));
  EXPECT_FALSE(Put(second).ok());
  first.state = "removed";
  ASSERT_OK(Put(first));
  ASSERT_OK(Put(second));
  first.state = "gone";
  EXPECT_FALSE(Put(first).ok());
}

TEST_F(EnvironmentsTest, NothingIsInUseWithoutJobs) {
  const auto names = EnvironmentsInUse(*db_);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_TRUE(names->empty());
  const auto used = LastUseOfEnvironment(*db_, "night");
  ASSERT_TRUE(used.ok()) << used.status();
  EXPECT_EQ(used->ms, 0);
}

}  // namespace
}  // namespace dynbench::store

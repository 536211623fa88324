// Method: rows of several series, environments and machines; each line must hold one of each.
#include "common/judge/history.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

store::HistoryRow RowOf(const std::string& model, const std::string& environment,
                        const std::string& fingerprint) {
  store::ResultRow row = Measured(model, 20, 10).row;
  row.experiment.environment = environment;
  return {row, fingerprint, "hash"};
}

TEST(DeviceKind, IsTheModelWithoutCounts) {
  const Facts host = HostFacts(R"({"cpu_model":"EPYC","host":"a","gpus":[
      {"name":"NVIDIA H200"},{"name":"NVIDIA H200"},{"name":"NVIDIA T4"}]})");
  EXPECT_EQ(DeviceKind(host, "cpu"), "EPYC");
  EXPECT_EQ(DeviceKind(host, "cuda"), "NVIDIA H200, NVIDIA T4");
  EXPECT_EQ(DeviceKind({}, "cpu"), "unknown");
}

TEST(GroupHistory, OneLineForEachSeriesEnvironmentAndDevice) {
  store::History history;
  history.inventories = {{"a1", R"({"cpu_model":"EPYC","host":"a"})"},
                         {"a2", R"({"cpu_model":"EPYC","host":"b"})"},
                         {"x", R"({"cpu_model":"Xeon","host":"c"})"}};
  history.rows = {RowOf("m", "default", "a1"), RowOf("k", "default", "a1"),
                  RowOf("m", "nightly", "a1"), RowOf("m", "default", "x"),
                  RowOf("m", "default", "a2")};
  const auto lines = GroupHistory(history);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].experiment.model, "k");
  EXPECT_EQ(lines[1].rows,
            (std::vector<const store::HistoryRow*>{&history.rows[0], &history.rows[4]}))
      << "hosts of one kind are one line, in the order of time";
  EXPECT_EQ(lines[1].device_kind, "EPYC");
  EXPECT_EQ(lines[2].device_kind, "Xeon");
  EXPECT_EQ(lines[3].experiment.environment, "nightly");
}

}  // namespace
}  // namespace dynbench::judge

// Method: the text is parsed again and compared with the tree that ResultsJson makes of the same
// rows: every kind of row, samples, and texts that need quoting.
#include "common/formats/results_text.h"

#include "absl/strings/match.h"
#include "common/formats/results_json.h"
#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

void ExpectTheSame(std::vector<store::ResultRow> rows) {
  std::string made = ResultsHead(JobOf(rows));
  for (store::ResultRow& row : rows) {
    row.plan = plan::ToJson(row.experiment);
    row.series = plan::SeriesKey(row.experiment);
  }
  const size_t half = (rows.size() + 1) / 2;
  for (const size_t begin : {size_t{0}, half}) {  // parts, made apart
    ResultsText text(/*first=*/begin == 0);
    for (size_t i = begin; i < (begin == 0 ? half : rows.size()); ++i) {
      const absl::Status added = text.Add(rows[i]);
      ASSERT_TRUE(added.ok()) << added;
    }
    made += text.Take();
  }
  made += ResultsTail();
  // Through text on both sides, as bytes that are no UTF-8 are replaced there.
  EXPECT_EQ(nlohmann::json::parse(made),
            nlohmann::json::parse(JsonText(ResultsJson(JobOf(rows), rows))));
}

TEST(ResultsText, SaysWhatTheTreeSays) { ExpectTheSame(EveryKindOfRow()); }
TEST(ResultsText, AJobWithoutRowsIsWhole) { ExpectTheSame({}); }

TEST(ResultsText, QuotesWhatProcessesWroteAndKeepsEveryNumber) {
  store::ResultRow row = Measured("repvgg_a2", 2, 1);
  plan::Result& result = *row.result;
  result.error = "a \"quoted\" \\ line\nand a bell \a, not UTF-8: \xff, and \u00e4";
  result.in_force = {{"plain", "1"}, {"a \"name\"\n", "2"}};
  result.notes = {"one", "two\t"};
  result.artifacts = {"/tmp/a b"};
  result.compiler_report = R"({"explain":"x","numbers":[1,2.5]})";
  result.eager_ns = {2'000'000, -1};
  result.metrics.speedup = 1.0 / 3;
  result.metrics.abs_latency_ms = 3;
  result.metrics.accuracy_distance = 1e-300;
  result.metrics.calls_captured = -7;
  store::ResultRow broken = row;
  broken.result->compiler_report = "{";
  ExpectTheSame({row, broken});
}

TEST(ResultsText, APlanThatCannotBeReadIsNamed) {
  store::ResultRow row = Measured("repvgg_a2", 2, 1);
  row.plan = "{\"sweet\":1}";
  ResultsText text(/*first=*/true);
  const absl::Status added = text.Add(row);
  EXPECT_TRUE(absl::StrContains(added.message(), "sweet")) << added;
}

}  // namespace
}  // namespace dynbench::formats

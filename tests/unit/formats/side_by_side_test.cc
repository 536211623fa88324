// Method: two jobs over the same models, one of which failed on one side and is missing on another.
#include "common/formats/side_by_side.h"

#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;

TEST(SideBySide, PercentWhereBothWereMeasuredAndWordsElsewhere) {
  const std::vector<store::ResultRow> first = {Measured("a", 20, 10), Measured("b", 20, 10),
                                               Measured("c", 20, 10)};
  const std::vector<store::ResultRow> second = {
      Measured("a", 20, 10.2),
      Failed(Waiting("b", plan::Test::kPerformance), "fail_to_run", plan::Phase::kCompile,
             plan::Blame::kCompiler, ""),
      Measured("d", 20, 10)};
  const auto json = SideBySideJson({"backed", &first}, {"unbacked", &second});
  ASSERT_EQ(json.size(), 4U);
  EXPECT_NEAR(json[0]["slower_percent"].get<double>(), 2.0, 1e-9);
  EXPECT_EQ(json[1]["unbacked"]["status"], "fail_to_run");
  EXPECT_TRUE(json[1]["slower_percent"].is_null());
  EXPECT_EQ(json[2]["unbacked"]["status"], "not planned");
  EXPECT_EQ(json[3]["model"], "d");
  const std::string text = SideBySideTable({"backed", &first}, {"unbacked", &second}, {});
  EXPECT_THAT(text, HasSubstr("2.0%"));
  EXPECT_THAT(text, HasSubstr("not planned"));
}

}  // namespace
}  // namespace dynbench::formats

// Method: a small comparison; every key that scripts rely on, absent where nothing is known, and a
// CSV whose lines all have the header's cells.
#include "common/formats/compare_json.h"

#include <gtest/gtest.h>

#include "common/formats/csv.h"
#include "nlohmann/json.hpp"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::formats {
namespace {

using judge::Measured;

struct Sides {
  judge::Side base{"job 1", {Measured("a", 20, 10), Measured("gone", 20, 10)}};
  judge::Side fresh{"job 2", judge::OnNewBuild({Measured("a", 20, 12)})};
};

TEST(CompareJson, KeysAndWhatIsAbsent) {
  const Sides sides;
  const auto comparison = judge::Compare(sides.base, sides.fresh, {}, {});
  const auto json = CompareJson(comparison);
  EXPECT_EQ(json["schema"], "dynbench.compare/1");
  EXPECT_EQ(json["base"], "job 1");
  EXPECT_EQ(json["common"], 1);
  EXPECT_EQ(json["gate"]["state"], "not_enough_data");
  EXPECT_EQ(json["left_out"][0]["experiment"]["model"], "gone");
  EXPECT_EQ(json["rules"]["metrics"].size(), 6U);
  ASSERT_EQ(json["results"].size(), 4U) << "compile time and memory were not measured";
  const auto& speedup = json["results"][0];
  EXPECT_EQ(speedup["metric"], "speedup");
  EXPECT_EQ(speedup["verdict"], "unknown");
  EXPECT_NEAR(speedup["change"].get<double>(), 10.0 / 12 - 1, 1e-9);
  EXPECT_FALSE(speedup.contains("p")) << "one process a side has none";
  EXPECT_EQ(json["software"][1]["new"], "2.14.1");
}

TEST(CompareJson, CsvHasOneShape) {
  const Sides sides;
  const auto comparison = judge::Compare(sides.base, sides.fresh, {}, {});
  const auto lines = ParseCsv(CompareCsv(comparison));
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 6U);
  for (const auto& line : *lines) EXPECT_EQ(line.size(), lines->front().size());
  EXPECT_EQ(lines->back()[20], "left_out");
  EXPECT_EQ(lines->back()[22], "only in base");
  EXPECT_EQ(lines->front()[23], "start");
  EXPECT_EQ(lines->back()[23], "cold");
  EXPECT_EQ(lines->front()[24], "profile");
  EXPECT_EQ((*lines)[1][24], "default");
}

}  // namespace
}  // namespace dynbench::formats

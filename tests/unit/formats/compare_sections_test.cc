// Method: each piece by itself: an empty table is nothing, words are listed up to a limit, signs.
#include "common/formats/compare_sections.h"

#include <gtest/gtest.h>

namespace dynbench::formats {
namespace {

TEST(CompareSections, NothingOfNothing) {
  Section section;
  section.title = "empty";
  section.after = {"never shown"};
  EXPECT_EQ(Render(section, false, {}), "");
  section.columns = {{"a"}, {"b", Align::kRight}};
  section.rows = {{{"x"}}};
  EXPECT_EQ(Render(section, true, {}),
            "\n**empty**\n\n| a | b |\n| --- | ---: |\n| x |  |\n\nnever shown\n");
}

TEST(CompareSections, WordsAndSigns) {
  EXPECT_EQ(Listed({"a", "b", "c"}, 3), "a, b, c");
  EXPECT_EQ(Listed({"a", "b", "c"}, 1), "a and 2 more");
  EXPECT_EQ(Change(0.042), "+4.2%");
  EXPECT_EQ(Change(-0.3), "-30%");
  EXPECT_EQ(Change(std::nullopt), "");
  judge::Judgement j;
  j.metric = judge::Metric::kStatus;
  j.base_status = "pass";
  j.fresh_status = "crash";
  EXPECT_EQ(FromTo(j), "pass → crash");
  j.metric = judge::Metric::kCompiledLatency;
  j.base = 1.5;
  EXPECT_EQ(FromTo(j), "1.500 → -");
}

}  // namespace
}  // namespace dynbench::formats

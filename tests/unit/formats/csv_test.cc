// Method: texts in, cells out; a text that stops anywhere loses only its last record's end.
#include "common/formats/csv.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::formats {
namespace {

using testing::ElementsAre;

TEST(Csv, QuotesLineEndsAndEmptyCells) {
  const auto records = ReadCsv("a,\"b,\"\"c\"\"\",\r\n\n\"two\nlines\",,x\n");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0].cells, ElementsAre("a", "b,\"c\"", ""));
  EXPECT_THAT(records[1].cells, ElementsAre("two\nlines", "", "x"));
  EXPECT_TRUE(records[1].ended);
}

TEST(Csv, ATextThatStopsIsMarked) {
  EXPECT_TRUE(ReadCsv("").empty());
  const auto records = ReadCsv("a,b\nc,1.2");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0].ended);
  EXPECT_FALSE(records[1].ended);
  ASSERT_EQ(ReadCsv("a,\"open").size(), 1u);
  EXPECT_FALSE(ReadCsv("a,\"open")[0].ended);
}

}  // namespace
}  // namespace dynbench::formats

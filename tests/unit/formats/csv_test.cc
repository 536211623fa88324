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

TEST(Csv, WhatIsWrittenIsReadBack) {
  const std::vector<std::vector<std::string>> lines = {
      {"name", "reason"}, {"a,b", "he said \"no\""}, {"", "two\nlines"}, {"x", ""}, {"é", "1\r2"},
      {"x", "y\r"}};
  for (const bool quote_all : {false, true}) {
    std::string text;
    for (const auto& line : lines) text += CsvLine(line, quote_all);
    const auto parsed = ParseCsv(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, lines);
  }
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "b,c", "d"}), "a,\"b,c\",d\n");
  EXPECT_EQ(CsvLine({"a", "b"}, true), "\"a\",\"b\"\n");
}

TEST(Csv, FilesOfOtherSystems) {
  const auto parsed = ParseCsv("a,b\r\n1,2\r\n\n3,4");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(*parsed,
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2"), ElementsAre("3", "4")));
}

TEST(Csv, AnOpenQuoteNamesItsLine) {
  EXPECT_EQ(std::string(ParseCsv("a,b\n\"c,d\n").status().message()),
            "line 2: a quote is opened and never closed");
}

}  // namespace
}  // namespace dynbench::formats

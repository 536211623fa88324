// Method: cells that break naive writers, there and back.
#include "common/formats/csv_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dynbench::formats {
namespace {

using ::testing::ElementsAre;

TEST(CsvText, WhatIsWrittenIsReadBack) {
  const std::vector<std::vector<std::string>> lines = {
      {"name", "reason"}, {"a,b", "he said \"no\""}, {"", "two\nlines"}, {"x", ""}, {"é", "1\r2"}};
  for (const bool quote_all : {false, true}) {
    std::string text;
    for (const auto& line : lines) text += CsvLine(line, quote_all);
    const auto parsed = ParseCsv(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, lines);
  }
}

TEST(CsvText, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "b,c", "d"}), "a,\"b,c\",d\n");
  EXPECT_EQ(CsvLine({"a", "b"}, true), "\"a\",\"b\"\n");
}

TEST(CsvText, FilesOfOtherSystems) {
  const auto parsed = ParseCsv("a,b\r\n1,2\r\n\n3,4");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(*parsed,
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2"), ElementsAre("3", "4")));
}

TEST(CsvText, AnOpenQuoteNamesItsLine) {
  EXPECT_EQ(std::string(ParseCsv("a,b\n\"c,d\n").status().message()),
            "line 2: a quote is opened and never closed");
}

}  // namespace
}  // namespace dynbench::formats

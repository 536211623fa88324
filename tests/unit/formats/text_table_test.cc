// Method: small tables as text, compared whole; widths by what a terminal shows.
#include "common/formats/text_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::formats {
namespace {

using testing::ElementsAre;

TextTable Sample() {
  TextTable table({{"model", Align::kLeft, 0},
                   {"ms", Align::kRight, 0},
                   {"peak", Align::kRight, 2},
                   {"compile", Align::kRight, 1},
                   {"accuracy", Align::kLeft, 0}});
  table.AddRow({{"mobilenetv2_100", Tone::kPlain},
                {"30.12", Tone::kPlain},
                {"1538", Tone::kPlain},
                {"17.2", Tone::kPlain},
                {"pass", Tone::kGood}});
  table.AddRow({{"größe", Tone::kPlain}, {"1.5", Tone::kPlain}});
  return table;
}

TEST(TextTable, AlignsNumbersToTheRightAndTrimsLines) {
  EXPECT_EQ(Sample().Render({}),
            "model               ms  peak  compile  accuracy\n"
            "---------------  -----  ----  -------  --------\n"
            "mobilenetv2_100  30.12  1538     17.2  pass\n"
            "größe              1.5\n");
}

TEST(TextTable, LeavesOutColumnsInTheirOrderWhenTooWide) {
  std::vector<std::string> left_out;
  EXPECT_EQ(Sample().Render({.colour = false, .width_max = 41}, &left_out),
            "model               ms  compile  accuracy\n"
            "---------------  -----  -------  --------\n"
            "mobilenetv2_100  30.12     17.2  pass\n"
            "größe              1.5\n");
  EXPECT_THAT(left_out, ElementsAre("peak"));
}

TEST(TextTable, CutsTheFirstColumnLast) {
  std::vector<std::string> left_out;
  EXPECT_EQ(Sample().Render({.colour = false, .width_max = 10}, &left_out),
            "model            ms  accuracy\n"
            "------------  -----  --------\n"
            "mobilenetv2…  30.12  pass\n"
            "größe           1.5\n");
  EXPECT_THAT(left_out, ElementsAre("peak", "compile"));
}

TEST(TextTable, ColoursCellsButNotTheirFilling) {
  TextTable table({{"a", Align::kLeft, 0}, {"b", Align::kLeft, 0}});
  table.AddRow({{"x", Tone::kBad}, {"y", Tone::kGood}});
  EXPECT_EQ(table.Render({.colour = true, .width_max = 0}),
            "\033[1ma\033[0m  \033[1mb\033[0m\n"
            "\033[2m-\033[0m  \033[2m-\033[0m\n"
            "\033[31mx\033[0m  \033[32my\033[0m\n");
}

TEST(TextTable, CellsCannotMoveTheCursor) {
  TextTable table({{"a", Align::kLeft, 0}});
  table.AddRow({{"red\033[31m\033[2J line\nnext\rback\a", Tone::kPlain}});
  EXPECT_EQ(table.Render({}), "a\n-----------------\nred line nextback\n");
}

TEST(DisplayWidth, IsWhatATerminalShows) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("größe"), 5u);
  EXPECT_EQ(DisplayWidth("模型"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(DisplayWidth("🚀"), 2u);
  EXPECT_EQ(DisplayWidth("\xC3"), 1u);  // a broken character
  EXPECT_EQ(DisplayWidth("\xE6x"), 2u);
}

TEST(Truncate, KeepsWholeCharacters) {
  EXPECT_EQ(Truncate("abcdef", 6), "abcdef");
  EXPECT_EQ(Truncate("abcdef", 4), "abc…");
  EXPECT_EQ(Truncate("模型模型", 4), "模…");
  EXPECT_EQ(Truncate("abc", 0), "");
}

}  // namespace
}  // namespace dynbench::formats

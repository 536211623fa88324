// Method: pictures of jobs drawn for terminals of several sizes; what matters must be on each.
#include "tools/dynbenchctl/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "common/formats/text_table.h"
#include "tests/unit/cli/rows_testing.h"
#include "tools/dynbenchctl/progress.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

LivePicture Picture(int failures, int running, int passed) {
  LivePicture picture;
  const int planned = failures + running + passed;
  picture.job = MakeJob({planned, passed, failures, 0, 0, 0, 0, running});
  int64_t id = 0;
  for (int i = 0; i < passed; ++i) {
    const RowView row = Passed(++id, "good" + std::to_string(i));
    picture.rows[row.row.id] = row;
    picture.ended.push_back(row.row.id);
  }
  for (int i = 0; i < running; ++i) {
    const RowView row = MakeRow(++id, "busy" + std::to_string(i), "running");
    picture.rows[row.row.id] = row;
  }
  for (int i = 0; i < failures; ++i) {
    const RowView row = Failed(++id, "bad" + std::to_string(i), "it broke");
    picture.rows[row.row.id] = row;
    picture.ended.push_back(row.row.id);
  }
  return picture;
}

TEST(LiveLines, CountsThenFailuresThenWhatRunsThenTheNewestPassed) {
  const auto lines = LiveLines(Picture(1, 1, 2), 100, 20);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("3 done (2 passed, 1 failed), 1 running"));
  EXPECT_THAT(lines[1], HasSubstr("bad0"));
  EXPECT_THAT(lines[2], HasSubstr("busy0"));
  EXPECT_THAT(lines[3], HasSubstr("good1"));
  EXPECT_THAT(lines[4], HasSubstr("good0"));
}

TEST(LiveLines, NeverExceedTheTerminal) {
  for (const int height : {1, 2, 3, 5, 10, 24}) {
    for (const int width : {1, 10, 40, 200}) {
      const auto lines = LiveLines(Picture(30, 8, 50), width, height);
      EXPECT_LE(lines.size(), static_cast<size_t>(height));
      for (const std::string& line : lines) {
        EXPECT_LE(formats::DisplayWidth(line), static_cast<size_t>(width)) << line;
      }
    }
  }
}

TEST(LiveLines, ManyFailuresAreCountedAndLeaveRoomForWhatRuns) {
  const auto lines = LiveLines(Picture(30, 2, 0), 100, 12);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("… and 25 more"));
  EXPECT_THAT(all, HasSubstr("busy1"));
}

TEST(Progress, APipeGetsEachRowOnceAndNoTerminalCodes) {
  std::ostringstream out;
  Progress progress(nullptr, &out, 80, 24);
  const JobView job = MakeJob({3, 1, 1, 0, 0, 0, 0, 1});
  progress.Update(job, {Passed(1, "a"), Failed(2, "b", "x"), MakeRow(3, "c", "running")});
  progress.Update(job, {Passed(1, "a"), MakeRow(3, "c", "running")});
  progress.Update(job, {Passed(3, "c")});
  progress.Clear();
  const std::string text = out.str();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::vector<std::string> firsts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) firsts.push_back(line.substr(0, 11));
  EXPECT_THAT(firsts, ::testing::ElementsAre("failed    b", "passed    a", "passed    c"))
      << "failures first, each row when it lands";
}

TEST(Progress, ATerminalIsRedrawnInPlaceAndLeftClean) {
  std::ostringstream out;
  Progress progress(&out, nullptr, 80, 24);
  progress.Update(MakeJob({1, 0, 0, 0, 0, 0, 0, 1}), {MakeRow(1, "a", "running")});
  EXPECT_EQ(out.str().find('\x1b'), std::string::npos) << "nothing to wipe yet";
  progress.Clear();
  EXPECT_THAT(out.str(), ::testing::EndsWith("\x1b[2A\r\x1b[J"));
}

}  // namespace
}  // namespace dynbench::cli

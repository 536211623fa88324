// Method: experiments that differ in one word each.
#include "common/formats/results_words.h"

#include "gtest/gtest.h"

namespace dynbench::formats {
namespace {

TEST(ResultsWords, EqualWordsHaveOneNumberWhateverCameBetween) {
  plan::Experiment a, b;
  a.model = "x";
  b.round = 2;
  b.side = "new";
  ResultsWords words;
  EXPECT_TRUE(words.Varies() == std::vector<bool>(ResultsWords::Titles().size(), false));
  const size_t first = words.Of(a);
  a.model = "y";
  EXPECT_EQ(words.Of(a), first);
  const size_t second = words.Of(b);
  EXPECT_NE(second, first);
  EXPECT_EQ(words.Of(a), first);
  EXPECT_EQ(words.Of(b), second);
  ASSERT_EQ(ResultsWords::Titles().size(), words.words(second).size());
  for (size_t d = 0; d < ResultsWords::Titles().size(); ++d) {
    const std::string& title = ResultsWords::Titles()[d];
    EXPECT_EQ(words.Varies()[d], title == "round" || title == "side") << title;
  }
  EXPECT_EQ(words.words(first)[8], "");  // no round
  EXPECT_EQ(words.words(second)[8], "2");
}

TEST(ResultsWords, EveryWordCounts) {
  const plan::Experiment usual;
  std::vector<plan::Experiment> others(10, usual);
  others[0].suite = "s";
  others[1].mode = plan::Mode::kTraining;
  others[2].precision = plan::Precision::kAmp;
  others[3].configuration = "c";
  others[4].device = "d";
  others[5].environment = "e";
  others[6].profile = "p";
  others[7].start = plan::Start::kWarm;
  others[8].round = 1;
  others[9].side = "base";
  for (size_t d = 0; d < others.size(); ++d) {
    ResultsWords words;
    words.Of(usual);
    words.Of(others[d]);
    std::vector<bool> wanted(others.size(), false);
    wanted[d] = true;
    EXPECT_TRUE(words.Varies() == wanted) << ResultsWords::Titles()[d];
  }
}

}  // namespace
}  // namespace dynbench::formats

// Method: names with one slip of each kind against short lists; what a person would see suggested.
#include "common/plan/nearest.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kModels = {"mobilenetv2_100", "mobilenetv3_large_100", "repvgg_a2",
                                          "ghostnet_100", "visformer_small"};

TEST(Nearest, FindsTheNameBehindASlip) {
  struct Case {
    const char* typed;
    const char* meant;
  };
  for (const Case& c : {Case{"mobilenetv2_10", "mobilenetv2_100"}, Case{"repvg_a2", "repvgg_a2"},
                        Case{"gohstnet_100", "ghostnet_100"}, Case{"RepVGG_A2", "repvgg_a2"},
                        Case{"visformer", "visformer_small"}}) {
    const auto near = Nearest(c.typed, kModels);
    ASSERT_FALSE(near.empty()) << c.typed;
    EXPECT_EQ(near.front(), c.meant) << c.typed;
  }
}

TEST(Nearest, SuggestsNothingForAStrangerAndAtMostThree) {
  EXPECT_THAT(Nearest("bert_large_uncased", kModels), IsEmpty());
  EXPECT_THAT(Nearest("", kModels), IsEmpty());
  EXPECT_THAT(Nearest("aab", {"aaa", "aac", "aad", "aae"}), ElementsAre("aaa", "aac", "aad"));
}

TEST(Nearest, LeavesOutWhatIsFarBesideTheBest) {
  EXPECT_THAT(Nearest("cudagraph", {"fullgraph", "cudagraphs"}), ElementsAre("cudagraphs"));
}

TEST(DidYouMean, ReadsAsAQuestion) {
  EXPECT_EQ(DidYouMean("repvg_a2", kModels), " (did you mean \"repvgg_a2\"?)");
  EXPECT_EQ(DidYouMean("ab", {"aa", "ac"}), " (did you mean \"aa\" or \"ac\"?)");
  EXPECT_EQ(DidYouMean("zzzz", kModels), "");
}

}  // namespace
}  // namespace dynbench::plan

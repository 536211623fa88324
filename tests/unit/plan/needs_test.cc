// Method: places described as workers describe them; what is said to be missing there.
#include "common/plan/needs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;

TEST(Needs, RequirementsAreReadInAllTheirForms) {
  EXPECT_EQ(*ParseRequirement("pool=a100"), (Requirement{"pool", "=", "a100"}));
  EXPECT_EQ(*ParseRequirement("torch>=2.13"), (Requirement{"torch", ">=", "2.13"}));
  EXPECT_EQ(*ParseRequirement("host!=old"), (Requirement{"host", "!=", "old"}));
  EXPECT_EQ(*ParseRequirement("driver==560"), (Requirement{"driver", "=", "560"}));
  EXPECT_EQ(*ParseRequirement("note=a>=b"), (Requirement{"note", "=", "a>=b"}));
  EXPECT_EQ(*ParseRequirement("gpu"), (Requirement{"gpu", "", ""}));
  for (const char* bad : {"", "=x", "pool=", "two words=1", ">=2"}) {
    EXPECT_FALSE(ParseRequirement(bad).ok()) << bad;
  }
}

TEST(Needs, VersionsCompareByTheirNumbersAndWordsAsText) {
  EXPECT_LT(CompareVersions("2.9.1", "2.13"), 0);
  EXPECT_EQ(CompareVersions("2.13", "2.13.0+cpu"), 0);
  EXPECT_GT(CompareVersions("2.15.0.dev20261101+cu130", "2.14.1"), 0);
  EXPECT_NE(CompareVersions("8xh100", "8xa100"), 0) << "a word that begins with a digit";
  EXPECT_EQ(CompareVersions("a100", "a100"), 0);
}

TEST(Needs, LabelsComeFirstThenTheVersionsOfTheEnvironment) {
  const Labels labels = {{"pool", "a100"}, {"driver", "550.54"}};
  const EnvironmentOffer environment{{}, {}, {{"torch", "2.14.1+cpu"}, {"timm", "1.0.9"}}};
  const auto missing = [&](const std::string& text) {
    return MissingRequirement({{text}, {}, {}, "", {}}, labels, environment);
  };
  for (const char* held :
       {"pool=a100", "pool", "torch>=2.13", "torch<3", "timm!=1.1", "driver>=550", "nothing!=x"}) {
    EXPECT_EQ(missing(held), "") << held;
  }
  EXPECT_EQ(missing("pool=h200"), "pool is a100, asked for: pool=h200");
  EXPECT_EQ(missing("torch>=2.15"), "torch is 2.14.1+cpu, asked for: torch>=2.15");
  EXPECT_EQ(missing("rack=7"), "it has no rack, asked for: rack=7");
}

TEST(Needs, AnExperimentNeedsItsLoaderAndWhatItsOptionsStandOn) {
  Experiment e;
  e.source.loader = "timm";
  e.options.ahead_of_time = "nativert";
  e.requirements = {"timm>=1.0"};
  const Needs needs = NeedsOf(e, {"pool=b", "gpu"});
  EXPECT_EQ(needs.requirements, (std::vector<std::string>{"gpu", "pool=b"})) << "in one order";
  EXPECT_EQ(MissingBuildNeed(needs, {}), "") << "a place that tells nothing is tried";
  EXPECT_EQ(MissingBuildNeed(needs, {{"nativert"}, {"timm"}, {{"timm", "1.0.9"}}}), "");
  EXPECT_THAT(MissingBuildNeed(needs, {{"aot_inductor"}, {"path"}, {{"timm", "0.9"}}}),
              testing::AllOf(HasSubstr("no loader for timm (has: path)"),
                             HasSubstr("no capability nativert (has: aot_inductor)"),
                             HasSubstr("timm is 0.9, needed: timm>=1.0")));
  e.engine = "command";
  EXPECT_TRUE(NeedsOf(e, std::vector<std::string>()).empty()) << "a program needs no loader";
}

}  // namespace
}  // namespace dynbench::plan

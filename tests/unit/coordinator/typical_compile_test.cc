// Method: suite files of a few models, with and without the word.
#include "coordinator/session/typical_compile.h"

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

plan::Suite With(const std::map<std::string, double>& seconds) {
  plan::Suite suite;
  for (const auto& [name, typical] : seconds) {
    plan::ModelRules& model = suite.models.emplace_back();
    model.name = name;
    model.typical_compile_s = typical;
  }
  return suite;
}

TEST(TypicalCompile, IsInMediansOfTheModelsOfWhichTheFileSpeaks) {
  const TypicalCompile typical(With({{"a", 10}, {"b", 20}, {"c", 60}, {"silent", 0}}));
  EXPECT_TRUE(typical.says_anything());
  EXPECT_DOUBLE_EQ(typical.Of("a"), 0.5);
  EXPECT_DOUBLE_EQ(typical.Of("c"), 3);
  EXPECT_DOUBLE_EQ(typical.longest(), 3);
  EXPECT_DOUBLE_EQ(typical.Of("silent"), 0);
  EXPECT_DOUBLE_EQ(typical.Of("of another suite"), 0);
}

TEST(TypicalCompile, OfAFileThatSaysNothingIsNothing) {
  for (const plan::Suite& suite : {With({}), With({{"a", 0}})}) {
    const TypicalCompile typical(suite);
    EXPECT_FALSE(typical.says_anything());
    EXPECT_DOUBLE_EQ(typical.Of("a"), 0);
    EXPECT_DOUBLE_EQ(typical.longest(), 0);
  }
}

TEST(TypicalCompile, OnlyARequestThatBringsASuiteHasItsOwn) {
  plan::Request request;
  EXPECT_FALSE(TypicalCompile::OfOwnSuite(request).has_value());
  request.inline_suite = With({{"a", 0}});
  ASSERT_TRUE(TypicalCompile::OfOwnSuite(request).has_value()) << "though it says nothing";
  request.inline_suite = With({{"a", 3}});
  EXPECT_DOUBLE_EQ(TypicalCompile::OfOwnSuite(request)->Of("a"), 1);
}

}  // namespace
}  // namespace dynbench::session

// Method: recipes as people write them, read, written as JSON and read again; one recipe for each
// rule that can be broken, whose message must have the line.
#include "common/plan/recipe.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

constexpr char kGood[] = R"yaml(name: nightly
python: 3.10
requirements: [torch==2.14.1, "timm>=1.0"]
wheels: [wheels/torch-2.0-py3-none-any.whl]
git:
  url: https://example.org/pytorch.git
  commit: 0123456789abcdef0123456789abcdef01234567
  build: pip install .
index_url: https://example.org/simple
find_links: [/srv/wheels]
environment: {USE_CUDA: 0, MAX_JOBS: 08}
timeout: 7200
)yaml";

Recipe Good() {
  auto recipe = ParseRecipe(kGood, "r.yaml");
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  if (!recipe.ok()) return {};
  recipe->wheels[0].sha256 = std::string(64, 'a');
  return *recipe;
}

TEST(Recipe, TextStaysTextAndComesBackFromJson) {
  const Recipe recipe = Good();
  EXPECT_EQ(recipe.python, "3.10");
  EXPECT_EQ(recipe.environment.at("MAX_JOBS"), "08");
  EXPECT_EQ(recipe.git->build, "pip install .");
  EXPECT_EQ(recipe.timeout_s, 7200);
  const auto again = RecipeFromJson(RecipeToJson(recipe));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(RecipeToJson(*again), RecipeToJson(recipe));
}

TEST(Recipe, TheIdFollowsWhatIsBuiltAndNotWhereTheWheelsLie) {
  const std::string id = RecipeId(Good());
  Recipe moved = Good();
  moved.wheels[0].file = "/elsewhere/torch-2.0-py3-none-any.whl";
  EXPECT_EQ(RecipeId(moved), id);
  Recipe other_wheel = Good();
  other_wheel.wheels[0].sha256[0] = 'b';
  EXPECT_NE(RecipeId(other_wheel), id);
  Recipe other_flag = Good();
  other_flag.environment["USE_CUDA"] = "1";
  EXPECT_NE(RecipeId(other_flag), id);
  EXPECT_NE(DerivedId("a", "base", "patch"), DerivedId("a", "base2", "patch"));
}

void ExpectWrong(const std::string& text, const std::string& where, const std::string& what) {
  const auto recipe = ParseRecipe(text, "r.yaml");
  ASSERT_FALSE(recipe.ok()) << text;
  EXPECT_TRUE(absl::StartsWith(recipe.status().message(), where)) << recipe.status();
  EXPECT_TRUE(absl::StrContains(recipe.status().message(), what)) << recipe.status();
}

TEST(Recipe, EveryRuleNamesTheLine) {
  const std::string head = "name: a\npython: 3.11\n";
  ExpectWrong(head, "r.yaml:1:", "installs nothing");
  ExpectWrong(head + "requirement: [a]\n", "r.yaml:3:1:", "requirements");
  ExpectWrong(head + "requirements: [\"-r x\"]\n", "r.yaml:3:", "is a flag");
  ExpectWrong(head + "wheels: [a.tar.gz]\n", "r.yaml:3:", "no .whl");
  ExpectWrong(head + "wheels: [a/x.whl, b/x.whl]\n", "r.yaml:3:", "two are named x.whl");
  ExpectWrong(head + "git: {url: u, commit: main, build: b}\n", "r.yaml:3:", "40 digits");
  ExpectWrong(head + "requirements: [a]\nenvironment: {LD_PRELOAD: x}\n",
              "r.yaml:4:", "LD_PRELOAD");
  ExpectWrong("name: ../a\npython: 3.11\nrequirements: [a]\n", "r.yaml:1:", "cannot name");
  ExpectWrong("name: a\npython: python3\nrequirements: [a]\n", "r.yaml:2:", "3.11");
}

TEST(Recipe, AnOrderWithoutDigestsIsRefused) {
  Recipe recipe = Good();
  recipe.wheels[0].sha256.clear();
  EXPECT_TRUE(absl::StrContains(RecipeFromJson(RecipeToJson(recipe)).status().message(), "digest"));
  EXPECT_FALSE(RecipeFromJson("{}").ok());
  EXPECT_FALSE(IsBuildVariable("PYTHONPATH"));
  EXPECT_TRUE(IsBuildVariable("USE_MKLDNN"));
}

TEST(Recipe, NamesAreThoseOfFiles) {
  EXPECT_TRUE(CheckEnvironmentName("nightly-2.15_a").ok());
  EXPECT_TRUE(CheckEnvironmentName(std::string(64, 'a')).ok());
  for (const std::string& name : {std::string(), std::string("feature/fusion"), std::string("a b"),
                                  std::string(".hidden"), std::string(65, 'a')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckEnvironmentName(name))) << name;
  }
}

}  // namespace
}  // namespace dynbench::plan

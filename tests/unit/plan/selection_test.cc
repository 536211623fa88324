// Method: suites of the test's own beside each other, and models that travel with the job.
#include "common/plan/selection.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Catalog TwoSuites() {
  Catalog catalog;
  for (const char* text : {"name: birds\nmodels: [{name: owl, batch_size: 1}, {name: Kiwi, "
                           "batch_size: 1}, {name: heron, batch_size: 1}]\n",
                           "name: fish\nmodels: [{name: salmon, batch_size: 1}]\n"}) {
    Suite suite = *ParseSuite(text, "t.yaml");
    catalog.suites[suite.name] = suite;
  }
  catalog.configurations["default"] =
      *ParseConfiguration("name: default\noptions: {backend: inductor}\n", "default.yaml");
  catalog.profiles["default"].name = "default";
  return catalog;
}

std::vector<std::string> Names(const Selection& selection) {
  std::vector<std::string> names;
  for (const SelectedModel& model : selection.models) names.push_back(model.rules.name);
  return names;
}

Request Birds() {
  Request request;
  request.suite = "birds";
  return request;
}

TEST(SelectModels, FiltersAreJoinedByOrWithoutRegardToCase) {
  Request request = Birds();
  request.filters = {"^K", "OW"};
  EXPECT_THAT(Names(*SelectModels(request, TwoSuites())), ElementsAre("Kiwi", "owl"));
  request.excludes = {"iwi$"};
  EXPECT_THAT(Names(*SelectModels(request, TwoSuites())), ElementsAre("owl"));
  request = Birds();
  request.exclude_exact = {"owl"};
  EXPECT_THAT(Names(*SelectModels(request, TwoSuites())), ElementsAre("Kiwi", "heron"));
}

TEST(SelectModels, AFilterThatMatchesNothingIsToldOf) {
  Request request = Birds();
  request.filters = {"owl", "herron"};
  const auto selection = SelectModels(request, TwoSuites());
  ASSERT_TRUE(selection.ok()) << selection.status();
  EXPECT_THAT(selection->warnings,
              ElementsAre("--filter \"herron\" matches no model of the suite \"birds\" (did you "
                          "mean \"heron\"?)"));
}

TEST(SelectModels, KnowsWhereElseANameIsKnown) {
  Request request = Birds();
  request.models = {"salmon"};
  EXPECT_THAT(ErrorOf(SelectModels(request, TwoSuites()).status()),
              HasSubstr("it is a model of the suite \"fish\": add --suite fish"));
  request.models = {"salmn"};
  EXPECT_THAT(ErrorOf(SelectModels(request, TwoSuites()).status()),
              HasSubstr("in the suite \"fish\" (did you mean \"salmon\"?)"));
  request.models = {"ow", "zebra"};  // every wrong name is told of at once
  const std::string error = ErrorOf(SelectModels(request, TwoSuites()).status());
  EXPECT_THAT(error, HasSubstr("unknown model \"ow\""));
  EXPECT_THAT(error,
              HasSubstr("unknown model \"zebra\" in the suite \"birds\"; \"dynbenchctl suite "
                        "show birds\" lists them"));
}

TEST(SelectModels, PathModelsFormTheirOwnSuite) {
  Request request;
  request.suite =
      "birds";  // `--suite timm --only path:…` carries over; the suite's models stay out
  request.path_models = {{"path", "Net", "sha", "net.py"}, {"path", "Alt", "sha2", "alt.py"}};
  const auto plan = Expand(request, TwoSuites(), {}, nullptr);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->experiments.size(), 4u);
  const Experiment& e = plan->experiments[0];
  EXPECT_EQ(e.suite, "path");
  EXPECT_EQ(e.model, "Net");
  EXPECT_EQ(e.source, request.path_models[0]);
  EXPECT_EQ(e.batch_size, 0);  // the file decides
  request.batch_size = 4;
  EXPECT_EQ(Expand(request, TwoSuites(), {}, nullptr)->experiments[0].batch_size, 4);
  request.weights = Weights::kRandom;
  EXPECT_THAT(ErrorOf(Expand(request, TwoSuites(), {}, nullptr).status()),
              HasSubstr("--weights has no effect"));
  request.weights = Weights::kAuto;
  request.path_models.push_back({"path", "Net", "sha3", "other.py"});
  EXPECT_THAT(ErrorOf(SelectModels(request, TwoSuites()).status()), HasSubstr("is given twice"));
}

TEST(SelectModels, AUsersSuiteNeedsNothingOfTheClientsDisk) {
  Request request;
  request.inline_suite = *ParseSuite(
      "name: mine\nloader: path\nmodels:\n"
      "  - {name: small, file: models/net.py, class: Net, batch_size: 4}\n",
      "mine.yaml");
  EXPECT_THAT(ErrorOf(Expand(request, TwoSuites(), {}, nullptr).status()),
              HasSubstr("its file models/net.py did not travel with the job"));
  request.model_files = {{"models/net.py", "0123abcd"}};
  const auto carried = RequestFromJson(ToJson(request));
  ASSERT_TRUE(carried.ok()) << carried.status();
  const auto plan = Expand(*carried, TwoSuites(), {}, nullptr);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Experiment& e = plan->experiments[0];
  EXPECT_EQ(e.suite, "mine");
  EXPECT_EQ(e.model, "small");
  EXPECT_EQ(e.batch_size, 4);
  EXPECT_EQ(e.source, (ModelSource{"path", "Net", "0123abcd", "net.py"}));
}

TEST(SelectModels, AUsersSuiteMayNotPassForAnInstalledOne) {
  Request request;
  request.inline_suite =
      *ParseSuite("name: birds\nmodels: [{name: emu, batch_size: 1}]\n", "birds.yaml");
  EXPECT_THAT(ErrorOf(SelectModels(request, TwoSuites()).status()),
              HasSubstr("\"birds\" is taken by dynbench"));
  request.inline_suite = TwoSuites().suites.at("birds");  // an unchanged copy is the same suite
  EXPECT_TRUE(SelectModels(request, TwoSuites()).ok());
}

}  // namespace
}  // namespace dynbench::plan

// Method: a model with every kind of rule; each must be told with its condition and its reason.
#include "tools/dynbenchctl/suite_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/formats/upstream_files.h"
#include "common/plan/catalog.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

TEST(SuiteText, Conditions) {
  EXPECT_EQ(ConditionWords({}, false), "always");
  EXPECT_EQ(ConditionWords({}, true), "--fast");
  plan::Condition when;
  when.device = "cuda";
  when.mode = "training";
  when.precision = {"amp", "float16"};
  when.ahead_of_time = "any";
  when.cudagraphs = false;
  EXPECT_EQ(ConditionWords(when, false), "cuda training amp/float16 ahead of time no cudagraphs");
}

TEST(SuiteText, AModelWithItsReasons) {
  plan::ModelRules model;
  model.name = "net";
  model.batch_size = 16;
  model.batch_size_fixed = true;
  model.iou_threshold = 0.95;
  model.requires_versions = {"torch>=2.10"};
  plan::ValueRule rule;
  rule.when.mode = "training";
  rule.reason = "drifts";
  rule.tolerance = 0.02;
  model.rules.push_back(rule);
  plan::SkipRule skip;
  skip.when.device = "cpu";
  skip.reason = "too slow";
  model.skip.push_back(skip);
  const std::string text = ModelText(model);
  EXPECT_THAT(text, HasSubstr("16 inference"));
  EXPECT_THAT(text, HasSubstr("fixed"));
  EXPECT_THAT(text, HasSubstr("rule (training): tolerance 0.02: drifts"));
  EXPECT_THAT(text, HasSubstr("skipped (cpu): too slow"));
  EXPECT_THAT(text, HasSubstr("intersection over union of 0.95"));
  EXPECT_THAT(text, HasSubstr("torch>=2.10"));
}

// Exported files have the names under which upstream's dashboard knows the configurations.
TEST(DashboardName, IsTheUpstreamNameOfEveryInstalledConfiguration) {
  const auto catalog = plan::LoadCatalog(*plan::FindSuitesFolder());
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  int named = 0;
  for (const auto& [name, configuration] : catalog->configurations) {
    if (configuration.upstream_name.empty()) continue;
    ++named;
    store::ResultRow row;
    row.experiment.suite = "timm";
    row.experiment.configuration = name;
    row.experiment.options = configuration.options;
    EXPECT_EQ(formats::DashboardName(row).rfind(configuration.upstream_name + "_timm_models_", 0),
              0U)
        << name << ": " << formats::DashboardName(row);
  }
  EXPECT_GT(named, 5);
}

}  // namespace
}  // namespace dynbench::cli

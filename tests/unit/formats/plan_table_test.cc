// Method: the page of a dry run as golden text.
#include "common/formats/plan_table.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

TEST(PlanTable, IsThisPage) {
  plan::Plan plan;
  for (const char* model : {"repvgg_a2", "nfnet_l0"}) {
    for (const plan::Test test : {plan::Test::kPerformance, plan::Test::kAccuracy}) {
      plan.experiments.push_back(Waiting(model, test).experiment);
    }
  }
  for (size_t i : {2, 3}) {
    plan.experiments[i].planned_outcome = plan::Outcome::kSkipped;
    plan.experiments[i].reason = "it takes longer than the time limit";
  }
  plan.warnings = {"--filter \"x\" matches no model of the suite \"timm\""};
  EXPECT_EQ(
      PlanTable(plan, 185.0, {"2 experiments can run on alpha, slot 0"}, {}),
      R"(suite timm  mode inference  configuration default  precision bfloat16  device cpu  environment default  start cold

model      test         batch  plan
---------  -----------  -----  ----
repvgg_a2  performance    128  run
repvgg_a2  accuracy         8  run
nfnet_l0   performance    128  skip
nfnet_l0   accuracy         8  skip

skipped (2): it takes longer than the time limit
warning: --filter "x" matches no model of the suite "timm"
2 experiments can run on alpha, slot 0
4 experiments: 2 to run, 2 skipped; expected to take 3 min 05 s
)");
}

TEST(PlanTable, AnEmptyPlanSaysWhy) {
  plan::Plan plan;
  plan.warnings = {"nothing is planned: partition 3 of 40 is empty"};
  EXPECT_EQ(PlanTable(plan, std::nullopt, {}, {}),
            "warning: nothing is planned: partition 3 of 40 is empty\n"
            "0 experiments: 0 to run, 0 skipped\n");
}

}  // namespace
}  // namespace dynbench::formats

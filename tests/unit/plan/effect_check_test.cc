// Method: options that one suite knows given to another, over the installed suites.
#include "common/plan/effect_check.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Request Of(const std::string& suite, const std::string& model) {
  Request request;
  request.suite = suite;
  request.models = {model};
  return request;
}

std::string ErrorFor(const Request& request) { return ErrorOf(PlanOf(request).status()); }

TEST(CheckSuiteOptions, OptionsOfAnotherLoaderAreRefused) {
  Request request = Of("timm", "repvgg_a2");
  request.layers = 2;
  EXPECT_THAT(ErrorFor(request), HasSubstr("--layers has no effect: only models of the loader "
                                           "huggingface can be cut; remove it"));
  request = Of("huggingface", "BertForMaskedLM");
  request.layers = 2;
  EXPECT_EQ(PlanOf(request)->experiments[0].layers, 2);

  request = Of("timm", "repvgg_a2");
  request.part = "encoder";
  EXPECT_THAT(ErrorFor(request), HasSubstr("--part has no effect"));
  request.suite = "torchbench";
  request.models = {"resnet50"};
  EXPECT_EQ(PlanOf(request)->experiments[0].part, "encoder");

  request = Of("torchbench", "resnet50");
  request.modes = {Mode::kTraining};
  request.activation_checkpointing = true;
  EXPECT_THAT(ErrorFor(request), HasSubstr("--enable-activation-checkpointing has no effect"));

  request = Of("huggingface", "BertForMaskedLM");
  request.channels_last = true;
  EXPECT_THAT(ErrorFor(request), HasSubstr("no model of the selection takes images"));
}

TEST(CheckSuiteOptions, GeneratingNeedsAModelThatGenerates) {
  Request request = Of("huggingface", "BertForMaskedLM");
  request.generation = "generate";
  EXPECT_THAT(ErrorFor(request), HasSubstr("--hf-inference-mode has no effect: no model of the "
                                           "selection generates"));
  request.generation.clear();
  request.prompt_length = 64;
  EXPECT_THAT(ErrorFor(request), HasSubstr("--prompt-length has no effect"));
  request.models = {"BertForMaskedLM", "Qwen/Qwen3-0.6B"};
  request.device = "cuda";
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(RowOf(*plan, "Qwen/Qwen3-0.6B", plan::Test::kAccuracy)->prompt_length, 64);
  EXPECT_EQ(RowOf(*plan, "BertForMaskedLM", plan::Test::kAccuracy)->prompt_length, 0);
}

TEST(CheckSuiteOptions, ABatchSizeThatNoModelTakesIsRefusedAndOneThatSomeTakeIsTold) {
  Request request = Of("torchbench", "demucs");
  request.batch_size = 2;
  EXPECT_THAT(ErrorFor(request), HasSubstr("--batch-size has no effect: every model of the "
                                           "selection has a size of its own"));
  request.models = {"demucs", "resnet50"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->warnings, ElementsAre("these keep a batch size of their own: demucs"));
  EXPECT_EQ(RowOf(*plan, "demucs", plan::Test::kPerformance)->batch_size, 8);
  EXPECT_EQ(RowOf(*plan, "resnet50", plan::Test::kPerformance)->batch_size, 2);
}

TEST(CheckEffects, AmpDtypeNeedsSomethingInAmp) {
  Request request = Of("torchbench", "resnet50");
  request.amp_dtype = "float16";
  EXPECT_THAT(ErrorFor(request), HasSubstr("--amp-dtype has no effect: nothing is run in amp"));
  request.models = {"tts_angular"};  // bfloat16 is run in autocast
  EXPECT_EQ(PlanOf(request)->experiments[0].amp_dtype, "float16");
  request.models = {"resnet50"};
  request.precision = Precision::kAmp;
  EXPECT_EQ(PlanOf(request)->experiments[0].amp_dtype, "float16");
}

TEST(CheckEffects, SeveralProcessesNeedSomethingThatKnowsOfThem) {
  Request request = Of("timm", "repvgg_a2");
  request.distributed = "multiprocess";
  EXPECT_THAT(ErrorFor(request), HasSubstr("--multiprocess has no effect"));
  request.modes = {Mode::kTraining};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->experiments[0].world_size, 2);
}

}  // namespace
}  // namespace dynbench::plan

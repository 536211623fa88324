// Method: requests as the command line makes them, expanded over the installed suites; what is
// checked is what a person reads in the plan. Upstream's numbers (18 models, 6 in the last of 7
// slices, halved batches) are facts about its scripts.
#include "common/plan/expand.h"

#include <set>

#include "nlohmann/json.hpp"
#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Expand, BareSubmitIsInferenceOfBothTestsOverTheWholeSuite) {
  const auto plan = PlanOf(Timm());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->experiments, SizeIs(36));
  EXPECT_THAT(ModelsOf(*plan), SizeIs(18));
  EXPECT_THAT(plan->warnings, IsEmpty());
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.suite, "timm");
    EXPECT_EQ(e.mode, Mode::kInference);
    EXPECT_EQ(e.configuration, "default");
    EXPECT_EQ(e.options.backend, "inductor");
    EXPECT_FALSE(e.options.cudagraphs);
    EXPECT_EQ(e.precision, Precision::kBf16);
    EXPECT_EQ(e.device, "cpu");
    EXPECT_EQ(e.environment, "default");
    EXPECT_EQ(e.start, Start::kCold);
    EXPECT_EQ(e.partition, 0);
    EXPECT_EQ(e.source.loader, "timm");
    EXPECT_EQ(e.source.name, e.model);
    EXPECT_FALSE(e.planned_outcome) << e.model;
    if (e.test == plan::Test::kAccuracy) {
      EXPECT_EQ(e.batch_size, 8) << e.model;
    }
  }
}

TEST(Expand, RulesOfTheSuiteAreInTheRows) {
  const auto plan = PlanOf(Timm());
  ASSERT_TRUE(plan.ok()) << plan.status();
  struct Case {
    const char* model;
    int batch_size;
  };
  for (const Case& c : {Case{"adv_inception_v3", 128}, Case{"beit_base_patch16_224", 64},
                        Case{"deit_base_distilled_patch16_224", 64}, Case{"ghostnet_100", 512},
                        Case{"mobilenetv3_large_100", 512}, Case{"mobilevit_s", 64},
                        Case{"swin_base_patch4_window7_224", 64}}) {
    EXPECT_EQ(RowOf(*plan, c.model, plan::Test::kPerformance)->batch_size, c.batch_size) << c.model;
  }
  EXPECT_EQ(RowOf(*plan, "mobilenetv2_100", plan::Test::kAccuracy)
                ->options.inductor_config.at("emulate_precision_casts"),
            "True");
  EXPECT_TRUE(RowOf(*plan, "inception_v3", plan::Test::kAccuracy)
                  ->accuracy.larger_multiplier_for_small_tensors);
  EXPECT_EQ(RowOf(*plan, "beit_base_patch16_224", plan::Test::kAccuracy)->accuracy.tolerance, 1e-3);
}

// `--performance --training --amp --backend=inductor --output=timm_models_training.csv`
TEST(Expand, UpstreamsTrainingCommandCarriesOver) {
  Request request = Timm();
  request.tests = {plan::Test::kPerformance};
  request.modes = {Mode::kTraining};
  request.precision = Precision::kAmp;
  request.options = UpstreamOptions("inductor", false);
  request.output = "timm_models_training.csv";
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(18));
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.configuration, "custom");
    EXPECT_TRUE(e.options.cudagraphs);
    EXPECT_EQ(e.precision, Precision::kAmp);
    EXPECT_EQ(e.output, "timm_models_training.csv");
    EXPECT_FALSE(e.planned_outcome) << e.model;
    EXPECT_EQ(e.model_mode, "train");
    EXPECT_EQ(e.optimizer, "none");  // on CPUs, as upstream
  }
  EXPECT_EQ(RowOf(*plan, "mobilevit_s", plan::Test::kPerformance)->batch_size, 64);
  EXPECT_EQ(RowOf(*plan, "mobilevit_s", plan::Test::kPerformance)->loss_divisor, 1000);
}

// `--performance --inference --bfloat16 --backend=inductor --output=timm_models_inference.csv`
TEST(Expand, UpstreamsInferenceCommandCarriesOver) {
  Request request = Timm();
  request.tests = {plan::Test::kPerformance};
  request.modes = {Mode::kInference};
  request.precision = Precision::kBf16;
  request.options = UpstreamOptions("inductor", false);
  request.output = "timm_models_inference.csv";
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(18));
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.precision, Precision::kBf16);
    EXPECT_TRUE(e.options.cudagraphs);
    EXPECT_EQ(e.output, "timm_models_inference.csv");
    EXPECT_FALSE(e.planned_outcome);
  }
}

TEST(Expand, TrainingRowsHaveTheirOwnRules) {
  Request request = Timm();
  request.modes = {Mode::kTraining};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(36));
  const auto tolerance = [&](const char* model) {
    return RowOf(*plan, model, plan::Test::kAccuracy)->accuracy.tolerance;
  };
  EXPECT_EQ(tolerance("adv_inception_v3"), 1e-2);
  EXPECT_EQ(tolerance("inception_v3"), 4e-2);
  EXPECT_EQ(tolerance("deit_base_distilled_patch16_224"), 8e-2);
  EXPECT_EQ(tolerance("beit_base_patch16_224"), 16e-2);
  const Experiment* mobilenet = RowOf(*plan, "mobilenetv2_100", plan::Test::kAccuracy);
  EXPECT_TRUE(mobilenet->accuracy.eager_not_deterministic);
  EXPECT_EQ(mobilenet->precision, Precision::kAmp);  // the default of training
  EXPECT_FALSE(mobilenet->planned_outcome);
}

TEST(Expand, FreezingHasItsOwnTolerance) {
  Request request = Timm();
  request.configurations = {"default", "freezing"};
  request.tests = {plan::Test::kAccuracy};
  request.models = {"adv_inception_v3", "repvgg_a2"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<double> tolerances;
  for (const Experiment& e : plan->experiments) tolerances.push_back(e.accuracy.tolerance);
  EXPECT_THAT(tolerances, ElementsAre(1e-3, 8e-2, 1e-3, 1e-3));
}

TEST(Expand, TrainingOfWhatIsForInferenceIsSkippedWithTheReason) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  request.modes = {Mode::kTraining, Mode::kInference};
  request.configurations = {"freezing", "aot_inductor"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(8));
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.planned_outcome.has_value(), e.mode == Mode::kTraining);
    if (e.mode != Mode::kTraining) continue;
    EXPECT_THAT(e.reason, HasSubstr("is for inference only"));
  }
}

TEST(Expand, AConfigurationMeasuresWhatItSays) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  request.configurations = {"batch_invariant_accuracy", "deterministic_perf"};
  auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(4));
  EXPECT_EQ(plan->experiments[0].reason,
            "the configuration batch_invariant_accuracy has no performance test");
  EXPECT_TRUE(plan->experiments[1].deterministic);
  EXPECT_FALSE(plan->experiments[1].planned_outcome);
  EXPECT_TRUE(plan->experiments[2].batch_invariant);
  EXPECT_EQ(plan->experiments[2].batch_size, 16);  // upstream's for this suite
  EXPECT_EQ(plan->experiments[3].planned_outcome, Outcome::kSkipped);

  request.configurations = {"cachebench"};
  request.tests = {plan::Test::kPerformance};
  request.output = "c.csv";
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(2));
  EXPECT_EQ(plan->experiments[0].start, Start::kCold);
  EXPECT_EQ(plan->experiments[1].start, Start::kWarm);
  EXPECT_EQ(plan->experiments[1].repeat, 1);
  EXPECT_EQ(plan->experiments[1].output, "c_warm.csv");
  request.repeat = 5;
  request.given = {"repeat"};
  request.starts = {Start::kWarm};
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->experiments, SizeIs(1));
  EXPECT_EQ(plan->experiments[0].repeat, 5);
}

TEST(Expand, InstancesComeFromTheProfileUnlessTheyAreGiven) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  request.profile = "multi-instance";
  EXPECT_EQ(RowOf(*PlanOf(request), "repvgg_a2", plan::Test::kPerformance)->instances, 2);
  EXPECT_EQ(RowOf(*PlanOf(request), "repvgg_a2", plan::Test::kAccuracy)->instances, 1);
  request.instances = 4;
  EXPECT_EQ(RowOf(*PlanOf(request), "repvgg_a2", plan::Test::kPerformance)->instances, 4);
}

TEST(Expand, PartitionsAreUpstreamsSlices) {
  Request request = Timm();
  request.total_partitions = 7;
  request.partition_id = 6;
  auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(ModelsOf(*plan),
              ElementsAre("repvgg_a2", "swin_base_patch4_window7_224", "tf_efficientnet_b0",
                          "visformer_small", "vit_base_patch14_dinov2.lvd142m",
                          "vit_base_patch16_siglip_256"));
  // Cut before filters: the slice of the filtered models is not the filtered models' slice.
  request.filters = {"^vi"};
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(ModelsOf(*plan), SizeIs(3));

  request = Timm();
  request.total_partitions = 40;
  request.partition_id = 39;
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(ModelsOf(*plan), SizeIs(18));
  request.partition_id = 3;
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->experiments, IsEmpty());
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("partition 3 of 40 is empty")));
}

TEST(Expand, StaticPolicyPlansEverySliceInOrder) {
  Request request = Timm();
  request.policy = PartitionPolicy::kStatic;
  request.total_partitions = 7;
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->partitions, 7);
  std::map<int, int> rows;
  int last = 0;
  for (const Experiment& e : plan->experiments) {
    ++rows[e.partition];
    EXPECT_LE(last, e.partition);
    last = e.partition;
  }
  EXPECT_EQ(rows, (std::map<int, int>{{0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}, {6, 12}}));
}

TEST(Expand, BalancedPolicyWeighsByPredictedTime) {
  Request request = Timm();
  request.policy = PartitionPolicy::kBalanced;
  request.total_partitions = 2;
  request.tests = {plan::Test::kPerformance};
  const auto plan = PlanOf(request, {}, [](const Experiment& e) {
    return e.model == "swin_base_patch4_window7_224" ? 17.0 : 1.0;
  });
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.partition == 0, e.model == "swin_base_patch4_window7_224") << e.model;
  }
}

TEST(Expand, SkipRulesAreRowsWithTheirReason) {
  const FleetFacts graviton{.default_device = "cpu", .arch = "aarch64"};
  const auto skipped = [&](const Request& request) {
    std::set<std::string> names;
    const auto plan = PlanOf(request, graviton);
    EXPECT_TRUE(plan.ok()) << plan.status();
    for (const Experiment& e : plan->experiments) {
      if (e.planned_outcome != Outcome::kSkipped) continue;
      names.insert(e.model);
      EXPECT_THAT(e.reason, HasSubstr("time limit"));
    }
    return names;
  };
  EXPECT_THAT(skipped(Timm()), ElementsAre("dm_nfnet_f0", "nfnet_l0", "visformer_small"));
  Request request = Timm();
  request.models = {"nfnet_l0", "repvgg_a2"};  // --models respects the rules …
  EXPECT_THAT(skipped(request), ElementsAre("nfnet_l0"));
  request = Timm();
  request.only = {"nfnet_l0"};  // … and --only does not
  EXPECT_THAT(skipped(request), IsEmpty());
  request = Timm();
  request.no_skip = true;
  EXPECT_THAT(skipped(request), IsEmpty());
  const FleetFacts gpu{.default_device = "cuda", .arch = "aarch64"};
  const auto plan = PlanOf(Timm(), gpu);
  EXPECT_FALSE(RowOf(*plan, "nfnet_l0", plan::Test::kPerformance)->planned_outcome);
}

TEST(Expand, BatchSizesByFlagAndFile) {
  Request request = Timm();
  request.batch_size = 2;
  auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const Experiment& e : plan->experiments) EXPECT_EQ(e.batch_size, 2);

  request = Timm();
  request.models = {"mobilevit_s", "repvgg_a2"};
  request.batch_sizes = {{"mobilevit_s", 256}, {"ViT-B-16-SigLIP-i18n-256", 128}};
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(RowOf(*plan, "mobilevit_s", plan::Test::kPerformance)->batch_size, 256);
  EXPECT_EQ(RowOf(*plan, "repvgg_a2", plan::Test::kPerformance)->batch_size, 128);
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("not in the plan: ViT-B-16-SigLIP-i18n-256"),
                                          HasSubstr("suite's batch size: repvgg_a2")));
}

TEST(Expand, OutputNamesWhatThereIsMoreThanOneOf) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  request.output = "out.d/timm.csv";
  const auto outputs = [&] {
    std::set<std::string> names;
    const auto plan = PlanOf(request);
    for (const Experiment& e : plan->experiments) names.insert(e.output);
    return names;
  };
  EXPECT_THAT(outputs(), ElementsAre("out.d/timm_accuracy.csv", "out.d/timm_performance.csv"));
  request.output = "out.d/timm";
  EXPECT_THAT(outputs(), ElementsAre("out.d/timm_accuracy", "out.d/timm_performance"));
  request.output = "timm.csv";
  request.tests = {plan::Test::kPerformance};
  EXPECT_THAT(outputs(), ElementsAre("timm.csv"));
  request.configurations = {"default", "cudagraphs"};
  EXPECT_THAT(outputs(), ElementsAre("timm_cudagraphs.csv", "timm_default.csv"));
}

TEST(Expand, OptionsOfOneTestDoNotChangeTheSeriesOfTheOther) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  const auto before = PlanOf(request);
  request.repeat = 3;
  const auto after = PlanOf(request);
  const auto series = [](const Plan& plan, plan::Test test) {
    return SeriesKey(*RowOf(plan, "repvgg_a2", test));
  };
  EXPECT_EQ(series(*before, plan::Test::kAccuracy), series(*after, plan::Test::kAccuracy));
  EXPECT_NE(series(*before, plan::Test::kPerformance), series(*after, plan::Test::kPerformance));
}

TEST(Expand, ATargetOfPrecisionIsInTheRowAndNotInTheSeries) {
  Request request = Timm();
  request.models = {"repvgg_a2"};
  const auto before = PlanOf(request);
  request.target_precision = 0.01;
  const auto after = PlanOf(request);
  const Experiment& row = *RowOf(*after, "repvgg_a2", plan::Test::kPerformance);
  EXPECT_EQ(row.target_precision, 0.01);
  EXPECT_EQ(row.precision_budget_ms, kPrecisionBudgetMs);
  EXPECT_EQ(SeriesKey(row), SeriesKey(*RowOf(*before, "repvgg_a2", plan::Test::kPerformance)));
  EXPECT_EQ(ToPublicJson(row)["target_precision"], 0.01);
  EXPECT_EQ(ToPublicJson(row)["precision_budget_s"], 30.0);
  const Experiment& accuracy = *RowOf(*after, "repvgg_a2", plan::Test::kAccuracy);
  EXPECT_EQ(accuracy.target_precision, 0);
  EXPECT_EQ(accuracy.precision_budget_ms, 0);
}

TEST(Expand, WhatIsTypedWinsOverTheSuitesInductorConfig) {
  Request request = Timm();
  request.only = {"mobilenetv2_100"};
  request.options = UpstreamOptions("inductor", true);
  request.options->inductor_config = {{"emulate_precision_casts", "False"}};
  auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->experiments[0].options.inductor_config.at("emulate_precision_casts"), "False");
  request.options = UpstreamOptions("aot_eager", false);
  plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->experiments[0].options.inductor_config, IsEmpty());
}

TEST(Expand, UnknownNamesAreAnsweredWithTheNearest) {
  struct Case {
    void (*change)(Request&);
    const char* says;
  };
  const Case cases[] = {
      {[](Request& r) { r.suite = "tim"; }, "unknown suite \"tim\" (did you mean \"timm\"?)"},
      {[](Request& r) { r.suite = "timm_models"; }, "did you mean \"timm\"?"},
      {[](Request& r) { r.suite = ""; }, "no suite is named"},
      {[](Request& r) { r.models = {"repvgg_a3"}; },
       "--models: unknown model \"repvgg_a3\" in the suite \"timm\" (did you mean \"repvgg_a2\"?)"},
      {[](Request& r) { r.only = {"mobilenetv2_10"}; }, "did you mean \"mobilenetv2_100\"?"},
      {[](Request& r) { r.exclude_exact = {"nfnet_10"}; }, "did you mean \"nfnet_l0\"?"},
      {[](Request& r) { r.configurations = {"cudagraph"}; },
       "unknown configuration \"cudagraph\" (did you mean \"cudagraphs\"?)"},
      {[](Request& r) { r.profile = "single_thread"; }, "did you mean \"single-thread\"?"},
      {[](Request& r) { r.device = "cud"; }, "unknown device \"cud\" (did you mean \"cuda\""},
      {[](Request& r) { r.filters = {"a(b"}; }, "--filter \"a(b\" is no regular expression"},
      {[](Request& r) { r.excludes = {"(?!x)"}; }, "--exclude \"(?!x)\" is no regular expression"},
  };
  for (const Case& c : cases) {
    Request request = Timm();
    c.change(request);
    const auto plan = PlanOf(request);
    ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.says;
    EXPECT_THAT(ErrorOf(plan.status()), HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace dynbench::plan

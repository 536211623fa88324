// Method: a suite of the test's own with one model per kind of rule; what is checked is what each
// rule and each flag makes of an experiment, and which of two wins.
#include "common/plan/apply_rules.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

constexpr char kSuite[] =
    "name: mine\n"
    "defaults:\n"
    "  batch_size: 32\n"
    "  batch_size_accuracy: 4\n"
    "  rules:\n"
    "    - {reason: first, when: {precision: [float16, amp]}, tolerance: 0.02, cosine: true}\n"
    "    - {reason: second, when: {mode: training}, optimizer: sgd}\n"
    "models:\n"
    "  - name: a\n"
    "    rules:\n"
    "      - {reason: third, when: {precision: [amp]}, tolerance: 0.03, precision: float32}\n"
    "      - {reason: fourth, when: {precision: [float32]}, batch_size: 5}\n"
    "      - {reason: fifth, when: {test: accuracy, device: cuda}, model_mode: eval}\n"
    "  - name: fixed\n"
    "    batch_size_fixed: true\n"
    "    batch_size_training: 7\n"
    "  - name: capped\n"
    "    batch_size_accuracy_max: 2\n"
    "  - name: deep\n"
    "    deterministic_algorithms: false\n"
    "    iou_threshold: 0.95\n"
    "    accuracy_runs: 5\n"
    "    large_model: too large\n"
    "    mark_batch: false\n"
    "    requires: [\"torch>=2.10\"]\n";

Request Mine(const std::string& model, Mode mode, plan::Test test) {
  Request request;
  request.inline_suite = *ParseSuite(kSuite, "mine.yaml");
  request.models = {model};
  request.modes = {mode};
  request.tests = {test};
  return request;
}

Experiment RowFor(const Request& request) {
  const auto plan = PlanOf(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->experiments.at(0);
}

TEST(ApplyModel, LaterRulesWinAndSeeWhatWasAskedFor) {
  Request request = Mine("a", Mode::kInference, plan::Test::kAccuracy);
  EXPECT_EQ(RowFor(request).accuracy.tolerance, 0.001);
  request.precision = Precision::kFp16;
  EXPECT_EQ(RowFor(request).accuracy.tolerance, 0.02);
  EXPECT_TRUE(RowFor(request).accuracy.cosine);
  request.precision = Precision::kAmp;
  const Experiment amp = RowFor(request);
  EXPECT_EQ(amp.accuracy.tolerance, 0.03);
  EXPECT_EQ(amp.precision, Precision::kAmp);
  EXPECT_EQ(amp.effective_precision, Precision::kFp32);
  EXPECT_EQ(amp.batch_size, 4);  // the rule for float32 looks at what was asked for
  request.precision = Precision::kFp32;
  EXPECT_EQ(RowFor(request).batch_size, 5);
  request.tolerance = 0.5;  // what is typed wins
  request.batch_size = 9;
  EXPECT_EQ(RowFor(request).accuracy.tolerance, 0.5);
  EXPECT_EQ(RowFor(request).batch_size, 9);
}

TEST(ApplyModel, AnOptimizerBelongsToTrainingOnAccelerators) {
  Request request = Mine("a", Mode::kTraining, plan::Test::kPerformance);
  request.device = "cuda";
  EXPECT_EQ(RowFor(request).optimizer, "sgd");
  request.device = "xpu";
  EXPECT_EQ(RowFor(request).optimizer, "sgd");
  for (const char* device : {"cpu", "mps"}) {
    request.device = device;
    EXPECT_EQ(RowFor(request).optimizer, "none");
  }
  request.optimizer = "adam";
  EXPECT_EQ(RowFor(request).optimizer, "adam");
  request = Mine("a", Mode::kInference, plan::Test::kPerformance);
  request.device = "cuda";
  EXPECT_EQ(RowFor(request).optimizer, "none");
}

TEST(ApplyModel, TheModuleIsInTheModeOfItsRuleElseOfTheFlag) {
  Request request = Mine("a", Mode::kTraining, plan::Test::kPerformance);
  EXPECT_EQ(RowFor(request).model_mode, "train");
  request.use_eval_mode = true;
  EXPECT_EQ(RowFor(request).model_mode, "eval");
  request = Mine("a", Mode::kTraining, plan::Test::kAccuracy);
  EXPECT_EQ(RowFor(request).model_mode, "train");
  request.device = "cuda";
  EXPECT_EQ(RowFor(request).model_mode, "eval");
  request = Mine("a", Mode::kInference, plan::Test::kAccuracy);
  EXPECT_EQ(RowFor(request).model_mode, "eval");
}

TEST(ApplyModel, BatchSizes) {
  const auto training = Mode::kTraining, inference = Mode::kInference;
  const auto timed = plan::Test::kPerformance, compared = plan::Test::kAccuracy;
  EXPECT_EQ(RowFor(Mine("fixed", inference, timed)).batch_size, 32);
  EXPECT_EQ(RowFor(Mine("fixed", training, timed)).batch_size, 7);
  EXPECT_EQ(RowFor(Mine("fixed", training, compared)).batch_size, 7);
  EXPECT_EQ(RowFor(Mine("capped", inference, compared)).batch_size, 2);
  Request request = Mine("capped", inference, compared);
  request.batch_size = 8;
  EXPECT_EQ(RowFor(request).batch_size, 2);  // as upstream
  request.tests = {timed};
  EXPECT_EQ(RowFor(request).batch_size, 8);
  // --find-batch-sizes begins where upstream does.
  EXPECT_EQ(RowFor(Mine("capped", inference, plan::Test::kBatchSize)).batch_size, 1024);
}

TEST(ApplyModel, RulesOfAccuracyAreInItsRowsAlone) {
  const Experiment compared = RowFor(Mine("deep", Mode::kInference, plan::Test::kAccuracy));
  EXPECT_FALSE(compared.accuracy.deterministic_algorithms);
  EXPECT_EQ(compared.accuracy.iou_threshold, 0.95);
  EXPECT_EQ(compared.accuracy.compiled_runs, 5);
  EXPECT_EQ(compared.accuracy.large_model, "too large");
  EXPECT_THAT(compared.requirements, testing::ElementsAre("torch>=2.10"));
  const Experiment timed = RowFor(Mine("deep", Mode::kInference, plan::Test::kPerformance));
  EXPECT_EQ(timed.accuracy, AccuracyRules());
  EXPECT_TRUE(timed.mark_batch);  // nothing is marked without a dynamic batch
  Request request = Mine("deep", Mode::kInference, plan::Test::kPerformance);
  request.configurations = {"unbacked"};
  EXPECT_FALSE(RowFor(request).mark_batch);
}

TEST(ApplyModel, QuantizedModelsAreNotCompared) {
  Request request = Mine("a", Mode::kInference, plan::Test::kAccuracy);
  request.options = UpstreamOptions("inductor", false);
  request.options->quantization = "int8weightonly";
  EXPECT_EQ(RowFor(request).accuracy.large_model,
            "quantized weights are not compared with unquantized ones, as upstream");
}

TEST(Applies, EveryFieldNarrows) {
  Experiment e;
  e.device = "cuda";
  e.options.cudagraphs = true;
  e.options.ahead_of_time = "aot_inductor";
  e.precision = Precision::kAmp;
  e.effective_precision = Precision::kFp32;
  const auto applies = [&](void (*set)(Condition&)) {
    Condition when;
    set(when);
    return Applies(when, e, "x86_64");
  };
  EXPECT_TRUE(applies([](Condition&) {}));
  EXPECT_TRUE(applies([](Condition& c) { c.device = "cuda", c.arch = "x86_64"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.device = "cpu"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.arch = "aarch64"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.mode = "training"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.test = "accuracy"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.only_freezing = true; }));
  EXPECT_TRUE(applies([](Condition& c) { c.precision = {"float16", "amp"}; }));
  EXPECT_FALSE(applies([](Condition& c) { c.precision = {"float32"}; }));
  EXPECT_TRUE(applies([](Condition& c) { c.backend = "inductor"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.backend = "eager"; }));
  EXPECT_TRUE(applies([](Condition& c) { c.ahead_of_time = "any"; }));
  EXPECT_TRUE(applies([](Condition& c) { c.ahead_of_time = "aot_inductor"; }));
  EXPECT_FALSE(applies([](Condition& c) { c.ahead_of_time = "export"; }));
  EXPECT_TRUE(applies([](Condition& c) { c.cudagraphs = true; }));
  EXPECT_FALSE(applies([](Condition& c) { c.cudagraphs = false; }));
  EXPECT_TRUE(applies([](Condition& c) { c.distributed = false; }));
  EXPECT_FALSE(applies([](Condition& c) { c.distributed = true; }));
}

TEST(SkipReason, NoFlagBypassesWhatCannotBeMeasured) {
  Request request = Timm();
  request.only = {"repvgg_a2"};
  request.modes = {Mode::kInference, Mode::kTraining};
  request.configurations = {"freezing"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const Experiment& e : plan->experiments) {
    EXPECT_EQ(e.reason.empty(), e.mode == Mode::kInference) << DisplayName(e);
  }
}

}  // namespace
}  // namespace dynbench::plan

// Method: the three suites of upstream as they are installed, planned; what is expected was written
// down by hand from upstream's lists and scripts (sizes of slices, tolerances, batch sizes).
#include <map>
#include <numeric>

#include "nlohmann/json.hpp"
#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr plan::Test kPerformance = plan::Test::kPerformance;
constexpr plan::Test kAccuracy = plan::Test::kAccuracy;

Request Of(const std::string& suite, Mode mode, plan::Test test) {
  Request request;
  request.suite = suite;
  request.modes = {mode};
  request.tests = {test};
  request.device = "cuda";
  return request;
}

struct Sizes {
  std::vector<int> raw, runnable;  // by slice
};

Sizes SlicesOf(const std::string& suite, Mode mode, int total) {
  Request request = Of(suite, mode, kPerformance);
  request.policy = PartitionPolicy::kStatic;
  request.total_partitions = total;
  const auto plan = PlanOf(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  Sizes sizes{std::vector<int>(total), std::vector<int>(total)};
  for (const Experiment& e : plan->experiments) {
    ++sizes.raw[e.partition];
    if (!e.planned_outcome) ++sizes.runnable[e.partition];
  }
  return sizes;
}

TEST(InstalledSuites, SlicesAreUpstreamsBeforeAndAfterSkips) {
  const auto inference = Mode::kInference;
  EXPECT_THAT(SlicesOf("timm", inference, 7).runnable, ElementsAre(2, 2, 2, 2, 2, 2, 6));
  EXPECT_THAT(SlicesOf("timm", inference, 15).raw,
              ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4));
  EXPECT_THAT(SlicesOf("timm", inference, 6).raw, ElementsAre(3, 3, 3, 3, 3, 3));
  EXPECT_THAT(SlicesOf("huggingface", inference, 5).raw, Each(8));
  EXPECT_THAT(SlicesOf("huggingface", inference, 5).runnable, ElementsAre(6, 4, 8, 7, 5));
  EXPECT_THAT(SlicesOf("huggingface", inference, 9).raw, ElementsAre(4, 4, 4, 4, 4, 4, 4, 4, 8));
  EXPECT_THAT(SlicesOf("huggingface", inference, 9).runnable,
              ElementsAre(4, 2, 3, 1, 4, 4, 3, 4, 5));
  const Sizes torchbench = SlicesOf("torchbench", inference, 9);
  EXPECT_THAT(torchbench.raw, ElementsAre(11, 11, 11, 11, 11, 11, 11, 11, 17));
  EXPECT_THAT(torchbench.runnable, ElementsAre(11, 10, 11, 0, 4, 10, 10, 9, 6));
  EXPECT_THAT(SlicesOf("torchbench", Mode::kTraining, 9).runnable,
              ElementsAre(10, 3, 6, 0, 2, 8, 7, 8, 6));
  EXPECT_THAT(SlicesOf("torchbench", inference, 6).raw, ElementsAre(17, 17, 17, 17, 17, 20));
  EXPECT_THAT(SlicesOf("torchbench", inference, 6).runnable, ElementsAre(17, 15, 0, 16, 15, 8));
}

TEST(InstalledSuites, AreComplete) {
  const auto& suites = Installed().suites;
  EXPECT_THAT(suites.at("timm").models, SizeIs(18));
  EXPECT_THAT(suites.at("torchbench").models, SizeIs(105));
  EXPECT_EQ(suites.at("torchbench").models[0].name, "torchrec_dlrm");  // the canary's folder
  EXPECT_EQ(suites.at("torchbench").models[1].name, "BERT_pytorch");
  std::vector<std::string> newer;
  for (const ModelRules& rules : suites.at("huggingface").models) {
    if (rules.newer) newer.push_back(rules.name);
  }
  EXPECT_THAT(suites.at("huggingface").models, SizeIs(41));
  EXPECT_THAT(newer, ElementsAre("Qwen/Qwen3.5-0.8B"));
}

TEST(InstalledSuites, WhatIsNewerThanUpstreamsListIsPlannedWhenNoSliceIsCut) {
  Request request = Of("huggingface", Mode::kInference, kPerformance);
  EXPECT_THAT(ModelsOf(*PlanOf(request)), SizeIs(41));
  request.total_partitions = 5;
  request.partition_id = 1;
  const auto slice = PlanOf(request);
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_THAT(ModelsOf(*slice), SizeIs(8));
  EXPECT_THAT(slice->warnings, ElementsAre(HasSubstr("in none of its slices: Qwen/Qwen3.5-0.8B")));
}

TEST(InstalledSuites, EveryModelOfEverySuiteExpandsInBothModesOnEveryDevice) {
  for (const auto& [name, suite] : Installed().suites) {
    for (const char* device : {"cpu", "cuda", "xpu"}) {
      Request request;
      request.suite = name;
      request.modes = {Mode::kInference, Mode::kTraining};
      request.device = device;
      request.no_skip = true;
      request.configurations = {"default", "cudagraphs", "freezing", "aot_inductor", "dynamic"};
      const auto plan = PlanOf(request);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_THAT(plan->experiments, SizeIs(suite.models.size() * 2 * 2 * 5));
      for (const Experiment& e : plan->experiments) {
        EXPECT_GT(e.batch_size, 0) << DisplayName(e);
        EXPECT_EQ(e.planned_outcome.has_value(),
                  e.mode == Mode::kTraining && e.configuration != "default" &&
                      e.configuration != "cudagraphs" && e.configuration != "dynamic")
            << DisplayName(e) << ": " << e.reason;
        const auto back = ExperimentFromJson(ToJson(e));
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_EQ(*back, e);
      }
    }
  }
}

TEST(InstalledSuites, EveryRuleHasAReason) {
  for (const auto& [name, suite] : Installed().suites) {
    for (const ModelRules& model : suite.models) {
      for (const SkipRule& rule : model.skip) EXPECT_GE(rule.reason.size(), 10u) << model.name;
      for (const ValueRule& rule : model.rules) EXPECT_GE(rule.reason.size(), 10u) << model.name;
    }
  }
}

struct ToleranceCase {
  const char* suite;
  const char* model;
  Mode mode;
  const char* device;
  Precision precision;
  const char* configuration;
  double tolerance;
};

TEST(InstalledSuites, TolerancesAreUpstreams) {
  const auto inference = Mode::kInference, training = Mode::kTraining;
  const auto bf16 = Precision::kBf16, fp16 = Precision::kFp16, amp = Precision::kAmp,
             fp32 = Precision::kFp32;
  const ToleranceCase cases[] = {
      {"timm", "beit_base_patch16_224", training, "cuda", amp, "default", 0.16},
      {"timm", "adv_inception_v3", inference, "cpu", bf16, "freezing", 0.08},
      {"huggingface", "BertForMaskedLM", inference, "cuda", bf16, "default", 0.001},
      {"huggingface", "GPT2ForSequenceClassification", inference, "cuda", bf16, "default", 0.004},
      {"huggingface", "GPT2ForSequenceClassification", inference, "cpu", bf16, "default", 0.005},
      {"huggingface", "GPT2ForSequenceClassification", training, "cpu", bf16, "default", 0.01},
      {"huggingface", "MT5ForConditionalGeneration", training, "cuda", amp, "default", 0.02},
      {"torchbench", "resnet50", inference, "cuda", bf16, "default", 1e-4},
      {"torchbench", "resnet50", inference, "cuda", fp16, "default", 1e-3},
      {"torchbench", "resnet50", training, "cuda", fp32, "default", 1e-3},
      {"torchbench", "resnet50", training, "cpu", fp32, "default", 1e-4},
      {"torchbench", "yolov3", training, "cuda", amp, "default", 0.08},
      {"torchbench", "yolov3", training, "cuda", fp32, "default", 0.08},
      {"torchbench", "yolov3", inference, "cuda", bf16, "default", 1e-4},
      {"torchbench", "drq", training, "cuda", bf16, "default", 0.01},
      {"torchbench", "doctr_reco_predictor", inference, "cuda", fp16, "default", 0.01},
      {"torchbench", "phlippe_resnet", inference, "xpu", bf16, "default", 0.08},
      {"torchbench", "phlippe_resnet", inference, "cuda", bf16, "default", 1e-4},
      {"torchbench", "mobilenet_v2", inference, "cuda", amp, "freezing", 0.08},
      {"torchbench", "mobilenet_v2", inference, "cuda", bf16, "freezing", 1e-4},
      {"torchbench", "alexnet", training, "cuda", fp32, "default", 1e-3},
  };
  for (const ToleranceCase& c : cases) {
    SCOPED_TRACE(testing::Message() << c.model << " on " << c.device);
    Request request = Of(c.suite, c.mode, kAccuracy);
    request.only = {c.model};
    request.device = c.device;
    request.precision = c.precision;
    request.configurations = {c.configuration};
    const auto plan = PlanOf(request);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->experiments.at(0).accuracy.tolerance, c.tolerance);
  }
}

Experiment RowFor(const std::string& suite, const std::string& model, Mode mode, plan::Test test,
                  Precision precision, const std::string& configuration = "default") {
  Request request = Of(suite, mode, test);
  request.only = {model};
  request.precision = precision;
  request.configurations = {configuration};
  const auto plan = PlanOf(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->experiments.at(0);
}

TEST(InstalledSuites, PrecisionsAreUpstreams) {
  const auto inference = Mode::kInference;
  const auto effective = [&](const char* suite, const char* model, Precision asked_for) {
    const Experiment e = RowFor(suite, model, inference, kPerformance, asked_for);
    EXPECT_EQ(e.precision, asked_for);
    return e.effective_precision;
  };
  for (const Precision half : {Precision::kBf16, Precision::kFp16, Precision::kAmp}) {
    EXPECT_EQ(effective("huggingface", "GoogleFnet", half), Precision::kFp32);
  }
  EXPECT_EQ(effective("torchbench", "tts_angular", Precision::kBf16), Precision::kAmp);
  EXPECT_EQ(effective("torchbench", "tts_angular", Precision::kFp32), Precision::kFp32);
  EXPECT_EQ(effective("torchbench", "vision_maskrcnn", Precision::kBf16), Precision::kFp16);
  EXPECT_EQ(effective("torchbench", "sam_fast", Precision::kFp32), Precision::kAmp);
  EXPECT_EQ(RowFor("torchbench", "modded_nanogpt", Mode::kTraining, kPerformance, Precision::kAmp)
                .amp_dtype,
            "bfloat16");
}

TEST(InstalledSuites, BatchSizesOfTorchBenchDoNotDependOnTheDevicesName) {
  const auto batch = [](const char* model, Mode mode, plan::Test test) {
    return RowFor("torchbench", model, mode, test, Precision::kFp32).batch_size;
  };
  EXPECT_EQ(batch("alexnet", Mode::kInference, kPerformance), 128);
  EXPECT_EQ(
      Installed().suites.at("torchbench").Find("alexnet")->information.at("batch_size_a100_40gb"),
      "1024");
  EXPECT_EQ(batch("alexnet", Mode::kInference, kAccuracy), 4);
  EXPECT_EQ(batch("dlrm", Mode::kTraining, kPerformance), 1024);
  EXPECT_EQ(batch("demucs", Mode::kTraining, kPerformance), 4);
  EXPECT_EQ(batch("demucs", Mode::kInference, kAccuracy), 8);  // its size is fixed
  EXPECT_EQ(batch("pytorch_unet", Mode::kInference, kAccuracy), 2);
  EXPECT_EQ(batch("maml_omniglot", Mode::kTraining, kAccuracy), 5);
}

TEST(InstalledSuites, RulesOfTorchBenchThatAreNoNumbers) {
  const auto row = [](const char* model, Mode mode, plan::Test test) {
    return RowFor("torchbench", model, mode, test, Precision::kFp32, "cudagraphs");
  };
  EXPECT_EQ(row("resnet50", Mode::kTraining, kPerformance).model_mode, "train");
  EXPECT_EQ(row("resnet50", Mode::kTraining, kAccuracy).model_mode, "eval");
  EXPECT_EQ(row("yolov3", Mode::kTraining, kAccuracy).model_mode, "train");
  EXPECT_EQ(row("vision_maskrcnn", Mode::kTraining, kPerformance).model_mode, "eval");
  EXPECT_FALSE(row("tts_angular", Mode::kInference, kPerformance).options.cudagraphs);
  EXPECT_TRUE(row("resnet50", Mode::kInference, kPerformance).options.cudagraphs);
  EXPECT_EQ(row("BERT_pytorch", Mode::kTraining, kPerformance).optimizer, "sgd");
  EXPECT_EQ(row("resnet50", Mode::kTraining, kPerformance).optimizer, "adam");
  const Experiment sam = row("sam", Mode::kInference, kAccuracy);
  EXPECT_EQ(sam.accuracy.compiled_runs, 5);
  EXPECT_EQ(sam.accuracy.iou_threshold, 0.95);
  EXPECT_FALSE(sam.accuracy.deterministic_algorithms);
  EXPECT_EQ(row("maml", Mode::kInference, kAccuracy).accuracy.large_model,
            "eager, compiled and reference copies do not fit together");
  EXPECT_TRUE(row("pytorch_unet", Mode::kTraining, kAccuracy).accuracy.eager_not_deterministic);
  EXPECT_TRUE(row("mobilenet_v3_large", Mode::kInference, kAccuracy).accuracy.non_deterministic);
  EXPECT_EQ(row("yolov3", Mode::kInference, kAccuracy).source.parameters.at("input_shape"),
            "3,384,512");
  const Experiment dynamic =
      RowFor("torchbench", "sam", Mode::kInference, kPerformance, Precision::kBf16, "dynamic");
  EXPECT_FALSE(dynamic.mark_batch);
}

TEST(InstalledSuites, SkipsOfTorchBenchByWhatIsAskedFor) {
  const auto reason = [](const char* model, const char* device, Mode mode, plan::Test test,
                         const char* configuration) {
    Request request = Of("torchbench", mode, test);
    request.models = {model};
    request.device = device;
    request.configurations = {configuration};
    return PlanOf(request)->experiments.at(0).reason;
  };
  const auto inference = Mode::kInference;
  EXPECT_THAT(reason("llama", "cuda", inference, kAccuracy, "cudagraphs"), HasSubstr("145773"));
  EXPECT_THAT(reason("llama", "cuda", inference, kAccuracy, "default"), IsEmpty());
  EXPECT_THAT(reason("llama", "cuda", inference, kPerformance, "aot_inductor"),
              HasSubstr("torch.export does not support"));
  EXPECT_THAT(reason("moco", "cuda", inference, kAccuracy, "freezing"), HasSubstr("folding"));
  EXPECT_THAT(reason("mnasnet1_0", "cpu", inference, kAccuracy, "freezing"), IsEmpty());
  EXPECT_THAT(reason("simple_gpt", "cuda", inference, kAccuracy, "default"),
              HasSubstr("--multiprocess"));
  Request request = Of("torchbench", inference, kPerformance);
  request.models = {"simple_gpt"};
  request.distributed = "multiprocess";
  EXPECT_THAT(PlanOf(request)->experiments.at(0).reason, IsEmpty());
  request = Of("torchbench", inference, kPerformance);
  request.models = {"BERT_pytorch"};
  request.fast = true;
  EXPECT_THAT(PlanOf(request)->experiments.at(0).reason, HasSubstr("more than a minute"));
}

TEST(InstalledSuites, LanguageModelsGenerateInThePerformanceTestOfInference) {
  const auto row = [](const char* model, Mode mode, plan::Test test, const char* configuration) {
    return RowFor("huggingface", model, mode, test, Precision::kBf16, configuration);
  };
  const char* qwen = "Qwen/Qwen3-0.6B";
  EXPECT_EQ(row(qwen, Mode::kInference, kPerformance, "default").generation, "generate");
  EXPECT_EQ(row(qwen, Mode::kInference, kAccuracy, "default").generation, "");
  EXPECT_EQ(row(qwen, Mode::kInference, kPerformance, "prefill").generation, "prefill");
  EXPECT_EQ(row("openai/whisper-tiny", Mode::kInference, kPerformance, "prefill").reason,
            "the model has no prefill measurement");
  EXPECT_EQ(row("BertForMaskedLM", Mode::kInference, kPerformance, "default").generation, "");
  EXPECT_EQ(row("M2M100ForConditionalGeneration", Mode::kTraining, kAccuracy, "default").model_mode,
            "eval");
  EXPECT_EQ(row("MobileBertForMaskedLM", Mode::kTraining, kPerformance, "default").optimizer,
            "none");
}

TEST(InstalledSuites, ConfigurationsOfHuggingFaceAreJson) {
  int written = 0;
  for (const ModelRules& model : Installed().suites.at("huggingface").models) {
    const auto config = model.parameters.find("config");
    if (config == model.parameters.end()) continue;
    ++written;
    const auto json = nlohmann::json::parse(config->second, nullptr, false);
    EXPECT_TRUE(json.is_object() && !json.empty()) << model.name;
    EXPECT_TRUE(model.parameters.contains("config_class")) << model.name;
  }
  EXPECT_EQ(written, 13);
}

}  // namespace
}  // namespace dynbench::plan

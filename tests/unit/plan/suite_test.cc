// Method: the installed TIMM suite against upstream's facts; then bad suite files, one per rule, by
// the message that a person reads.
#include "common/plan/suite.h"

#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(TimmSuite, IsUpstreamsListInUpstreamsOrder) {
  const Suite& timm = Installed().suites.at("timm");
  std::vector<std::string> names;
  for (const ModelRules& rules : timm.models) names.push_back(rules.name);
  EXPECT_THAT(
      names, ElementsAre("adv_inception_v3", "beit_base_patch16_224",
                         "convnextv2_nano.fcmae_ft_in22k_in1k", "deit_base_distilled_patch16_224",
                         "deit_tiny_patch16_224.fb_in1k", "dm_nfnet_f0", "ghostnet_100",
                         "inception_v3", "mobilenetv2_100", "mobilenetv3_large_100", "mobilevit_s",
                         "nfnet_l0", "repvgg_a2", "swin_base_patch4_window7_224",
                         "tf_efficientnet_b0", "visformer_small", "vit_base_patch14_dinov2.lvd142m",
                         "vit_base_patch16_siglip_256"));
}

TEST(TimmSuite, HasUpstreamsRules) {
  const Suite& timm = Installed().suites.at("timm");
  struct Case {
    const char* model;
    int batch_size;
    double training, freezing;
    bool small_tensors;
    const char* optimizer;
  };
  for (const Case& c : {
           Case{"adv_inception_v3", 128, 0.01, 0.08, false, "sgd"},
           Case{"beit_base_patch16_224", 64, 0.16, 0.001, false, "adam"},
           Case{"deit_base_distilled_patch16_224", 64, 0.08, 0.001, false, "adam"},
           Case{"ghostnet_100", 512, 0.01, 0.001, false, "sgd"},
           Case{"inception_v3", 128, 0.04, 0.001, true, "adam"},
           Case{"mobilenetv3_large_100", 512, 0.04, 0.001, true, "adam"},
           Case{"mobilevit_s", 64, 0.01, 0.001, false, "adam"},
           Case{"swin_base_patch4_window7_224", 64, 0.01, 0.001, false, "adam"},
           Case{"tf_efficientnet_b0", 128, 0.01, 0.001, false, "sgd"},
           Case{"vit_base_patch14_dinov2.lvd142m", 128, 0.01, 0.001, true, "adam"},
           Case{"vit_base_patch16_siglip_256", 128, 0.08, 0.001, false, "adam"},
       }) {
    SCOPED_TRACE(c.model);
    const ModelRules* rules = timm.Find(c.model);
    ASSERT_NE(rules, nullptr);
    EXPECT_EQ(rules->batch_size, c.batch_size);
    EXPECT_EQ(rules->batch_size_training, c.batch_size);
    EXPECT_EQ(rules->batch_size_accuracy, 8);
    EXPECT_EQ(rules->tolerance_inference, 0.001);
    EXPECT_EQ(rules->tolerance_training, c.training);
    EXPECT_EQ(rules->tolerance_freezing, c.freezing);
    EXPECT_EQ(rules->larger_multiplier_for_small_tensors, c.small_tensors);
    EXPECT_EQ(rules->optimizer, c.optimizer);
  }
  EXPECT_EQ(timm.Find("mobilevit_s")->loss_divisor, 1000);
  EXPECT_TRUE(timm.Find("mobilenetv2_100")->eager_not_deterministic_training);
  EXPECT_FALSE(timm.Find("mobilenetv3_large_100")->flaky.empty());
  EXPECT_EQ(timm.Find("mobilenetv2_100")->information.at("batch_size_cpu_file"), "32");
  ASSERT_THAT(timm.Find("nfnet_l0")->skip, SizeIs(1));
  EXPECT_EQ(timm.Find("nfnet_l0")->skip[0].when.arch, "aarch64");
  EXPECT_EQ(timm.Find("no_such_model"), nullptr);
}

TEST(ParseSuite, DefaultsHoldUnlessAModelSaysOtherwise) {
  const auto suite = ParseSuite(
      "name: mine\n"
      "defaults:\n"
      "  batch_size: 64\n"
      "  batch_size_divisor: 3\n"
      "  tolerance: {inference: 0.004}\n"
      "  skip: [{when: {device: mps}, reason: no such device here}]\n"
      "models:\n"
      "  - name: b\n"
      "    batch_size: 2\n"
      "    skip: [{reason: too slow, slow: true}]\n"
      "  - name: a\n"
      "    batch_size_training: 9\n"
      "    tolerance: {training: 0.5}\n"
      "    information: {version: 1.10, commit: 0123}\n",
      "mine.yaml");
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_EQ(suite->loader, "timm");
  ASSERT_THAT(suite->models, SizeIs(2));
  const ModelRules& a = suite->models[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.line, 11);
  EXPECT_EQ(a.batch_size, 21);
  EXPECT_EQ(a.batch_size_training, 3);
  EXPECT_EQ(a.tolerance_inference, 0.004);
  EXPECT_EQ(a.tolerance_freezing, 0.004);
  EXPECT_EQ(a.tolerance_training, 0.5);
  EXPECT_EQ(a.information.at("version"), "1.10");
  EXPECT_EQ(a.information.at("commit"), "0123");
  const ModelRules& b = suite->models[1];
  EXPECT_EQ(b.batch_size, 1);  // never below 1
  ASSERT_THAT(b.skip, SizeIs(2));
  EXPECT_TRUE(b.skip[1].slow);
}

TEST(ParseSuite, SaysWhatIsWrongWhereAndHow) {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {"name: s\nmodel:\n  - name: a\n",
       "s.yaml:2:1: the suite: unknown key \"model\" (did you mean \"models\"?)"},
      {"name: s\nmodels: []\nmodels: []\n",
       "s.yaml:3:1: the key \"models\" is given twice, in line 2 and in line 3"},
      {"models: [{name: a}]\n", "s.yaml:1:1: the suite: the key \"name\" is missing"},
      {"name: s\n", "the key \"models\" is missing"},
      {"name: s\nmodels: []\n", "s.yaml:2:9: the suite: \"models\" wants a list with at least one"},
      {"name: my suite\nmodels: [{name: a, batch_size: 1}]\n", "letters, digits"},
      {"schema: dynbench.suite/9\nname: s\nmodels: [{name: a}]\n",
       "s.yaml:1:9: the suite: \"schema\" wants one of dynbench.suite/1, not"},
      {"name: s\nloader: tim\nmodels: [{name: a}]\n", "did you mean \"timm\"?"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n  - name: a\n    batch_size: 4\n",
       "s.yaml:5:5: model \"a\" is given twice, in line 3 and in line 5"},
      {"name: s\nmodels:\n  - batch_size: 8\n", "a model: the key \"name\" is missing"},
      {"name: s\nmodels:\n  - name: a,b\n    batch_size: 8\n", "no blanks, commas"},
      {"name: s\nmodels:\n  - name: a\n", "model \"a\": the key \"batch_size\" is missing"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: eight\n",
       "s.yaml:4:17: model \"a\": \"batch_size\" wants a whole number from 1 to"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    tolerances: 1\n",
       "s.yaml:5:5: model \"a\": unknown key \"tolerances\" (did you mean \"tolerance\"?)"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    tolerance: {inferense: 1}\n",
       "model \"a\": tolerance: unknown key \"inferense\" (did you mean \"inference\"?)"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    optimizer: adamw\n",
       "\"optimizer\" wants one of adam, sgd, none, not \"adamw\""},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    skip: [{when: {device: cpu}}]\n",
       "model \"a\": skip rule: the key \"reason\" is missing"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    skip: [{reason: x, when: {mode: "
       "train}}]\n",
       "\"mode\" wants one of inference, training, not \"train\""},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    file: a.py\n",
       "\"file\" and \"class\" belong to the loader \"path\""},
      {"name: s\nloader: path\nmodels:\n  - name: a\n    file: a.py\n",
       "the loader \"path\" needs \"file\""},
      {"name: s\ndefaults: {name: x}\nmodels: [{name: a}]\n", "defaults: unknown key \"name\""},
      {"name: s\ndefaults: {batch_size: 1}\nmodels: [{name: a}]\ndefaults: {batch_size: 2}\n",
       "s.yaml:4:1: the key \"defaults\" is given twice, in line 2 and in line 4"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    rules: [{tolerance: 0.1}]\n",
       "model \"a\": rule: the key \"reason\" is missing"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    rules:\n      - reason: x\n",
       "s.yaml:6:9: model \"a\": rule: sets nothing; give one of tolerance"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    rules:\n      - reason: x\n"
       "        tolerance: 0.1\n        when: {precision: bf16}\n",
       "model \"a\": rule: when: \"precision\" wants one of float32, bfloat16, float16, amp"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    rules:\n      - reason: x\n"
       "        tolerance: 0.1\n        when: {ahead_of_time: aot}\n",
       "\"ahead_of_time\" wants one of any, export"},
      {"name: s\nmodels:\n  - name: a\n    batch_size: 8\n    requires: [\"torch=>2\"]\n",
       "\"torch=>2\" is no requirement"},
      {"name: s\nloader: torchbench\nmodels:\n  - name: a\n    batch_size: 8\n",
       "the loader \"torchbench\" needs the parameter \"package\""},
      {"name: s\nloader: huggingface\nmodels:\n  - name: a\n    batch_size: 8\n"
       "    parameters: {kind: forward, class: A, labels: tokens}\n",
       "the loader \"huggingface\" needs the parameter \"sequence_length\""},
      {"name: s\nloader: huggingface\nmodels:\n  - name: a\n    batch_size: 8\n"
       "    parameters: {kind: generate, class: A, confg: x}\n",
       "the loader \"huggingface\" has no parameter \"confg\" (did you mean \"config\"?)"},
      {"name: s\nloader: huggingface\nmodels:\n  - name: a\n    batch_size: 8\n"
       "    parameters: {kind: generate, class: A, config: \"[1]\"}\n",
       "the parameter \"config\" wants a JSON object as text"},
      {"name: s\norder: size\nmodels: [{name: a}]\n", "\"order\" wants one of name, listed"},
  };
  for (const Case& c : cases) {
    const auto suite = ParseSuite(c.text, "s.yaml");
    ASSERT_EQ(suite.status().code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(ErrorOf(suite.status()), HasSubstr(c.says)) << c.text;
  }
}

TEST(ParseSuite, ReadsRulesInTheirOrderThoseOfDefaultsFirst) {
  const auto suite = ParseSuite(
      "name: mine\n"
      "loader: torchbench\n"
      "order: listed\n"
      "defaults:\n"
      "  batch_size: 4\n"
      "  rules: [{reason: all of them, model_mode: eval}]\n"
      "  requires: [\"torch>=2.10\"]\n"
      "models:\n"
      "  - name: z\n"
      "    parameters: {package: p.z}\n"
      "    requires: [timm]\n"
      "    batch_size_fixed: true\n"
      "    batch_size_accuracy_max: 2\n"
      "    iou_threshold: 0.95\n"
      "    accuracy_runs: 5\n"
      "    deterministic_algorithms: false\n"
      "    mark_batch: false\n"
      "    large_model: too large\n"
      "    newer: true\n"
      "    rules:\n"
      "      - when: {device: cuda, precision: [float16, amp], cudagraphs: true}\n"
      "        reason: this one\n"
      "        tolerance: 0.08\n"
      "        precision: amp\n"
      "        amp_dtype: float16\n"
      "        optimizer: none\n"
      "        batch_size: 7\n"
      "        cosine: true\n"
      "        cudagraphs: false\n"
      "  - name: a\n"
      "    parameters: {package: p.a}\n",
      "mine.yaml");
  ASSERT_TRUE(suite.ok()) << suite.status();
  ASSERT_THAT(suite->models, SizeIs(2));
  const ModelRules& z = suite->models[0];  // as listed
  EXPECT_EQ(z.name, "z");
  EXPECT_THAT(z.requires_versions, ElementsAre("torch>=2.10", "timm"));
  EXPECT_TRUE(z.batch_size_fixed && z.newer);
  EXPECT_FALSE(z.deterministic_algorithms || z.mark_batch);
  EXPECT_EQ(z.batch_size_accuracy_max, 2);
  EXPECT_EQ(z.iou_threshold, 0.95);
  EXPECT_EQ(z.accuracy_runs, 5);
  EXPECT_EQ(z.large_model, "too large");
  ASSERT_THAT(z.rules, SizeIs(2));
  EXPECT_EQ(z.rules[0].model_mode, "eval");
  ValueRule wanted;
  wanted.when.device = "cuda";
  wanted.when.precision = {"float16", "amp"};
  wanted.when.cudagraphs = true;
  wanted.reason = "this one";
  wanted.tolerance = 0.08;
  wanted.precision = Precision::kAmp;
  wanted.amp_dtype = "float16";
  wanted.optimizer = "none";
  wanted.batch_size = 7;
  wanted.cosine = true;
  wanted.cudagraphs = false;
  EXPECT_EQ(z.rules[1], wanted);
  EXPECT_EQ(suite->Find("a")->parameters.at("package"), "p.a");
  EXPECT_THAT(suite->Find("a")->rules, SizeIs(1));
}

TEST(IsRequirement, IsAPackageWithOrWithoutAVersion) {
  for (const char* good : {"timm", "torch>=2.10", "transformers==5.2.0", "a_b-c.d!=1.0+cpu"}) {
    EXPECT_TRUE(IsRequirement(good)) << good;
  }
  for (const char* bad : {"", ">=2", "torch>=", "torch=2", "torch >= 2", "torch>=2,<3", "a=>1"}) {
    EXPECT_FALSE(IsRequirement(bad)) << bad;
  }
}

TEST(LoadSuite, NamesTheFileAndTheNextStep) {
  EXPECT_EQ(LoadSuite("/nonexistent/suite.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf(LoadSuite("/nonexistent/suite.yaml").status()),
              HasSubstr("/nonexistent/suite.yaml: no such file; check the path"));
  EXPECT_THAT(ErrorOf(LoadSuite("/").status()), HasSubstr("cannot be read"));
}

TEST(SuiteToJson, IsWhatSuiteShowPrints) {
  const nlohmann::json json = ToJson(Installed().suites.at("timm"));
  EXPECT_EQ(json["schema"], "dynbench.suite/1");
  EXPECT_EQ(json["name"], "timm");
  ASSERT_EQ(json["models"].size(), 18u);
  const nlohmann::json& nfnet = json["models"][11];
  EXPECT_EQ(nfnet["name"], "nfnet_l0");
  EXPECT_EQ(nfnet["skip"][0]["when"]["arch"], "aarch64");
  EXPECT_EQ(nfnet["skip"][0]["reason"], "takes longer than the time limit on aarch64 CPUs");
}

}  // namespace
}  // namespace dynbench::plan

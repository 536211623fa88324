// Method: requests in, argument vectors out. The first rows are upstream's own documented commands,
// word for word; nothing that upstream's parser lacks a flag for may be dropped silently.
#include "common/plan/script_command.h"

#include "absl/strings/match.h"
#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Request Script() {
  Request request = Timm();
  request.engine = kScriptEngine;
  request.scripts = "/opt/pytorch/benchmarks/dynamo/";
  request.tests = {plan::Test::kPerformance};
  return request;
}

Experiment Of(const std::string& loader, const std::string& model) {
  Experiment e;
  e.suite = loader;
  e.model = e.source.name = model;
  e.source.loader = loader;
  return e;
}

TEST(ScriptCommand, TheSixCommandsOfTheFirstRowComeOutWordForWord) {
  struct Row {
    const char *loader, *script;
    Mode mode;
    Precision precision;
    const char* flags;
  };
  const Row rows[] = {
      {"torchbench", "torchbench", Mode::kTraining, Precision::kAmp, "--training --amp"},
      {"torchbench", "torchbench", Mode::kInference, Precision::kBf16, "--inference --bfloat16"},
      {"huggingface", "huggingface", Mode::kTraining, Precision::kAmp, "--training --amp"},
      {"huggingface", "huggingface", Mode::kInference, Precision::kBf16, "--inference --bfloat16"},
      {"timm", "timm_models", Mode::kTraining, Precision::kAmp, "--training --amp"},
      {"timm", "timm_models", Mode::kInference, Precision::kBf16, "--inference --bfloat16"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.flags);
    Request request = Script();
    request.options = UpstreamOptions("inductor", /*disable_cudagraphs=*/false);
    Experiment e = Of(row.loader, "resnet50");
    e.mode = row.mode;
    e.precision = row.precision;
    EXPECT_EQ(Join(ScriptCommand(request, *request.options, e)),
              std::string("{python} /opt/pytorch/benchmarks/dynamo/") + row.script +
                  ".py --performance " + row.flags +
                  " --backend=inductor --output={output} --only=resnet50");
  }
}

TEST(ScriptCommand, TheDashboardsConfigurationsComeOutWordForWord) {
  struct Row {
    const char* configuration;
    plan::Test test;
    const char* flags;
    const char* variable;
  };
  // upstream's nightly: cold start for performance, no translation validation for accuracy.
  const Row rows[] = {
      {"default", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor "
       "--disable-cudagraphs",
       ""},
      {"default", plan::Test::kAccuracy,
       "--accuracy --no-translation-validation --inference --bfloat16 --backend=inductor "
       "--disable-cudagraphs",
       ""},
      {"cudagraphs", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor", ""},
      {"dynamic", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor "
       "--dynamic-batch-only",
       ""},
      {"cpp_wrapper", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor "
       "--disable-cudagraphs",
       "TORCHINDUCTOR_CPP_WRAPPER"},
      {"freezing_cudagraphs", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor --freezing",
       ""},
      {"max_autotune", plan::Test::kPerformance,
       "--performance --cold-start-latency --inference --bfloat16 --backend=inductor",
       "TORCHINDUCTOR_MAX_AUTOTUNE"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.configuration);
    Request request = Script();
    request.configurations = {row.configuration};
    request.tests = {row.test};
    if (row.test == plan::Test::kPerformance) request.starts = {Start::kCold};
    if (row.test == plan::Test::kAccuracy) request.given.insert("no-translation-validation");
    request.device = "cpu";
    request.total_partitions = 7;
    request.partition_id = 0;
    request.policy = PartitionPolicy::kStatic;
    const auto plan = PlanOf(request);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Experiment& e = plan->experiments.front();
    EXPECT_EQ(e.engine, kScriptEngine);
    EXPECT_EQ(Join(e.command),
              "{python} /opt/pytorch/benchmarks/dynamo/timm_models.py " + std::string(row.flags) +
                  " --device=cpu --total-partitions=7 --partition-id=0 --output={output} --only=" +
                  e.model);
    EXPECT_EQ(e.set_env.count(row.variable), row.variable[0] == '\0' ? 0u : 1u);
  }
}

TEST(ScriptCommand, ASuitesOwnInductorSettingsAreLeftToTheScript) {
  Request request = Script();
  request.models = {"repvgg_a2"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const std::string& word : plan->experiments.front().command) {
    EXPECT_THAT(word, Not(HasSubstr("--inductor-config")));
  }
}

TEST(ScriptCommand, EveryOptionHasItsFlag) {
  Request request = Script();
  request.tests = {plan::Test::kAccuracy};
  request.amp_dtype = "bfloat16";
  request.batch_size = 4;
  request.threads = 2;
  request.timeout_ms = 90'500;
  request.cosine = true;
  request.use_eval_mode = true;
  request.explain = true;
  request.filters = {"res.*"};
  CompileOptions options;
  options.compile_mode = "max-autotune";
  options.fullgraph = true;
  options.unbacked_batch_only = options.dynamic_shapes = true;
  options.inductor_config = {{"max_fusion_size", "32"}};
  options.dynamo_config = {{"suppress_errors", "True"}};
  Experiment e = Of("timm", "resnet50");
  e.test = plan::Test::kAccuracy;
  e.precision = Precision::kAmp;
  EXPECT_EQ(Join(ScriptCommand(request, options, e)),
            "{python} /opt/pytorch/benchmarks/dynamo/timm_models.py --accuracy --inference --amp "
            "--amp-dtype=bfloat16 --inductor --inductor-compile-mode=max-autotune --nopython "
            "--disable-cudagraphs --unbacked-batch-only --inductor-config=max_fusion_size=32 "
            "--suppress-errors --batch-size=4 --use-eval-mode --threads=2 --timeout=91 --cosine "
            "--explain --filter=res.* --output={output} --only=resnet50");
}

TEST(ScriptCommand, HowModelsWereSelectedIsNotPartOfTheSeries) {
  Request request = Script();
  request.models = {"ghostnet_100"};
  const auto alone = PlanOf(request);
  request.models.clear();
  request.filters = {"ghostnet"};
  request.scripts = "/another/folder";
  const auto filtered = PlanOf(request);
  request.engine = kNativeEngine;
  request.scripts.clear();
  const auto native = PlanOf(request);
  ASSERT_TRUE(alone.ok() && filtered.ok() && native.ok());
  EXPECT_NE(alone->experiments[0].command, filtered->experiments[0].command);
  EXPECT_EQ(SeriesKey(alone->experiments[0]), SeriesKey(filtered->experiments[0]));
  EXPECT_NE(SeriesKey(alone->experiments[0]), SeriesKey(native->experiments[0]));
}

TEST(ScriptCommand, AheadOfTimePathsAndAModelFile) {
  CompileOptions options;
  options.ahead_of_time = "aot_inductor";
  options.cudagraphs = true;
  Experiment e = Of("path", "Net");
  e.source.file_sha256 = "abc";
  EXPECT_THAT(ScriptCommand(Script(), options, e),
              AllOf(Contains("--export-aot-inductor"), Not(Contains("--backend=inductor")),
                    Contains("--only=path:{model_file},class:Net")));
}

TEST(ScriptCommand, WhatCannotBePassedOnIsRefused) {
  struct Row {
    const char* has;
    void (*change)(Request*);
  };
  const Row rows[] = {
      {"absolute", [](Request* r) { r->scripts = "benchmarks/dynamo"; }},
      {"--scripts DIR", [](Request* r) { r->scripts = ""; }},
      {"did you mean \"script\"", [](Request* r) { r->engine = "scripts"; }},
      {"--scripts has no effect", [](Request* r) { r->engine = kNativeEngine; }},
      {"--layers", [](Request* r) { r->layers = 2; }},
      {"--optimizer", [](Request* r) { r->optimizer = "sgd"; }},
      {"--dynamo-config",
       [](Request* r) {
         r->options = CompileOptions();
         r->options->dynamo_config = {{"cache_size_limit", "4"}};
       }},
      {"LD_PRELOAD",
       [](Request* r) {
         r->set_env = {{"LD_PRELOAD", "/x.so"}};
       }},
      {"TORCHINDUCTOR_CACHE_DIR",
       [](Request* r) {
         r->set_env = {{"TORCHINDUCTOR_CACHE_DIR", "/x"}};
       }},
      {"PROGRAM",
       [](Request* r) {
         r->engine = kCommandEngine;
         r->scripts = "";
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.has);
    Request request = Script();
    row.change(&request);
    const auto plan = PlanOf(request);
    ASSERT_FALSE(plan.ok());
    EXPECT_THAT(ErrorOf(plan.status()), HasSubstr(row.has));
  }
}

TEST(Command, PlansOneExperimentOfItsOwnSuiteAndFillsWhatThePlanKnows) {
  Request request;
  request.engine = kCommandEngine;
  request.tests = {plan::Test::kPerformance};
  request.command = {"/usr/bin/bench", "--dtype={precision}", "{output}", "{}"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->experiments.size(), 1u);
  const Experiment& e = plan->experiments[0];
  EXPECT_EQ(e.suite, "command");
  EXPECT_EQ(e.model, "bench");
  EXPECT_THAT(e.command, ElementsAre("/usr/bin/bench", "--dtype=bfloat16", "{output}", "{}"));
}

TEST(Command, RunsOnceForEachModelOfASuite) {
  Request request = Timm();
  request.engine = kCommandEngine;
  request.tests = {plan::Test::kPerformance};
  request.models = {"mobilenetv2_100", "ghostnet_100"};
  request.command = {"bench", "{model}"};
  const auto plan = PlanOf(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->experiments.size(), 2u);
  for (const Experiment& e : plan->experiments) EXPECT_EQ(e.command[1], e.model);
}

}  // namespace
}  // namespace dynbench::plan

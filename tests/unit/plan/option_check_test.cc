// Method: requests over the installed suites with one option of measuring or compiling too many
// each; every one is refused with its name and the way out, and what has an effect is planned.
#include "common/plan/option_check.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;
using Change = void (*)(Request&);

constexpr plan::Test kPerformance = plan::Test::kPerformance;
constexpr plan::Test kAccuracy = plan::Test::kAccuracy;

CompileOptions Path(const char* ahead_of_time) {
  CompileOptions options;
  options.ahead_of_time = ahead_of_time;
  return options;
}

struct Case {
  Change change;
  const char* says;
};

void ExpectRefused(const Case& c) {
  Request request = Timm();
  c.change(request);
  const auto plan = PlanOf(request);
  ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.says;
  EXPECT_THAT(ErrorOf(plan.status()), HasSubstr(c.says));
}

TEST(CheckMeasuring, OptionsOfAnotherTestAreRefused) {
  const Change only_accuracy[] = {
      [](Request& r) { r.deterministic = true; },
      [](Request& r) { r.warm_peak_memory = true; },
      [](Request& r) { r.measure_cache_lookup = true; },
      [](Request& r) { r.instances = 2; },
  };
  for (const Change& change : only_accuracy) {
    Request request = Timm();
    request.tests = {kAccuracy};
    change(request);
    EXPECT_THAT(ErrorOf(PlanOf(request).status()),
                HasSubstr("has no effect: it is for the performance test, and only --accuracy was "
                          "asked for; remove it or add --performance"));
  }
  const Change only_performance[] = {
      [](Request& r) { r.cosine = true; },
      [](Request& r) { r.skip_accuracy_check = true; },
      [](Request& r) { r.batch_invariant = true; },
      [](Request& r) { r.save_outputs_to = "/outputs"; },
      [](Request& r) { r.compare_outputs_with = "/outputs"; },
      [](Request& r) { r.minify = true; },
  };
  for (const Change& change : only_performance) {
    Request request = Timm();
    request.tests = {kPerformance};
    change(request);
    EXPECT_THAT(ErrorOf(PlanOf(request).status()),
                HasSubstr("has no effect: it is for the accuracy test, and only --performance"));
  }
}

TEST(CheckMeasuring, OptionsOfAnotherModeAreRefused) {
  const Case cases[] = {
      {[](Request& r) { r.optimizer = "sgd"; },
       "--optimizer has no effect: it is for training, and only --inference was asked for; remove "
       "it or add --training"},
      {[](Request& r) { r.use_eval_mode = true; }, "--use-eval-mode has no effect"},
      {[](Request& r) { r.activation_checkpointing = true; },
       "--enable-activation-checkpointing has no effect: it is for training"},
      {[](Request& r) { r.collect_outputs = true; }, "--collect-outputs has no effect"},
      {[](Request& r) { r.distributed = "ddp"; }, "--ddp has no effect: it is for training"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.batch_invariant = true;
       },
       "--batch-invariant has no effect: it is for inference"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.generation = "generate";
       },
       "--hf-inference-mode has no effect"},
  };
  for (const Case& c : cases) ExpectRefused(c);
}

TEST(CheckMeasuring, WordsAndCombinationsThatMeanNothingAreRefused) {
  const Case cases[] = {
      {[](Request& r) { r.amp_dtype = "bf16"; },
       "--amp-dtype wants one of bfloat16, float16, not \"bf16\""},
      {[](Request& r) { r.optimizer = "adamw"; }, "--optimizer wants one of adam, sgd, none"},
      {[](Request& r) { r.diagnostics = {"traces"}; }, "(did you mean \"trace\"?)"},
      {[](Request& r) { r.save_outputs_to = "outputs"; },
       "--save-model-outputs-to wants an absolute path"},
      {[](Request& r) { r.save_outputs_to = r.compare_outputs_with = "/outputs"; },
       "compared with themselves"},
      {[](Request& r) { r.world_size = 2; }, "--world-size has no effect alone"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.distributed = "ddp";
         r.world_size = 1;
       },
       "--world-size wants at least 2, not 1"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.distributed = "fsdp";
         r.optimize_ddp = "ddp_optimizer";
       },
       "--optimize-ddp-mode has no effect without --ddp"},
      {[](Request& r) { r.instances = 0; }, "--instances wants at least 1"},
      {[](Request& r) { r.given = {"layers"}; }, "--layers wants at least 1"},
  };
  for (const Case& c : cases) ExpectRefused(c);
}

TEST(CheckMeasuring, PrefillRefusesWhatUpstreamsRefuses) {
  Request request;
  request.suite = "huggingface";
  request.models = {"Qwen/Qwen3-0.6B"};
  request.generation = "prefill";
  EXPECT_TRUE(PlanOf(request).ok()) << PlanOf(request).status();
  request.precision = Precision::kAmp;
  EXPECT_THAT(ErrorOf(PlanOf(request).status()), HasSubstr("cannot be measured with --amp"));
  request.precision.reset();
  for (const auto& [configuration, with] :
       std::map<std::string, std::string>{{"dynamic", "dynamic shapes"},
                                          {"aot_inductor", "a path ahead of time"},
                                          {"nothing", "the backend \"nothing\""}}) {
    request.configurations = {configuration};
    EXPECT_THAT(ErrorOf(PlanOf(request).status()), HasSubstr("cannot be measured with " + with));
  }
}

TEST(CheckCompiling, OptionsThatNothingReadsAreRefused) {
  const Case cases[] = {
      {[](Request& r) {
         r.options = Path("export");
         r.options->max_autotune = true;
       },
       "--max-autotune has no effect with --export; remove it"},
      {[](Request& r) {
         r.options = Path("torchscript");
         r.options->dynamic_shapes = true;
       },
       "--dynamic-shapes has no effect with --torchscript-jit-trace"},
      {[](Request& r) {
         r.options = Path("nativert");
         r.given = {"disable-cudagraphs"};
       },
       "--disable-cudagraphs has no effect with --export-nativert"},
      {[](Request& r) {
         r.options = Path("aot_inductor");
         r.options->fullgraph = true;
       },
       "--nopython has no effect with --export-aot-inductor"},
      {[](Request& r) {
         r.options = Path("export");
         r.options->backend = "aot_eager";
       },
       "does not go through the backend"},
      {[](Request& r) {
         r.options = UpstreamOptions("inductor", false);
         r.options->dynamic_batch_only = r.options->unbacked_batch_only = true;
       },
       "exclude each other"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.options = Path("aot_inductor");
       },
       "--export-aot-inductor has no effect: ahead of time is for inference"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.configurations = {"nativert"};
       },
       "--configuration nativert has no effect: ahead of time is for inference"},
      {[](Request& r) { r.configurations = {"compiled_autograd"}; },
       "--configuration compiled_autograd has no effect: it is for training only"},
      {[](Request& r) {
         r.tests = {kPerformance};
         r.configurations = {"batch_invariant_accuracy"};
       },
       "it has only the accuracy test, and only --performance was asked for"},
      {[](Request& r) {
         r.precision = Precision::kFp32;
         r.options = UpstreamOptions("inductor", false);
         r.options->quantization = "int8weightonly";
       },
       "quantization (int8weightonly) starts from bfloat16, not float32; give --bfloat16"},
  };
  for (const Case& c : cases) ExpectRefused(c);
}

TEST(CheckCompiling, WhatHasAnEffectIsPlanned) {
  const Change changes[] = {
      [](Request& r) {
        r.options = UpstreamOptions("eager", false);
        r.options->fullgraph = r.options->dynamic_shapes = true;
        r.options->dynamo_config = {{"cache_size_limit", "4"}};
      },
      [](Request& r) {
        r.options = UpstreamOptions("inductor", false);
        r.given = {"disable-cudagraphs"};
      },
      [](Request& r) {
        r.options = Path("aot_inductor");
        r.options->cudagraphs = r.options->freezing = r.options->dynamic_batch_only = true;
        r.options->compile_mode = "max-autotune";
        r.given = {"disable-cudagraphs"};
      },
      [](Request& r) {
        r.options = UpstreamOptions("inductor", false);
        r.options->quantization = "int8weightonly";
      },
      [](Request& r) {
        r.modes = {Mode::kTraining};
        r.distributed = "ddp";
        r.optimize_ddp = "no_optimization";
        r.optimizer = "sgd";
        r.use_eval_mode = r.collect_outputs = true;
      },
      [](Request& r) {
        r.tests = {plan::Test::kTolerance};
        r.iterations = 3;
      },
  };
  for (const Change& change : changes) {
    Request request = Timm();
    change(request);
    EXPECT_TRUE(PlanOf(request).ok()) << PlanOf(request).status();
  }
}

}  // namespace
}  // namespace dynbench::plan

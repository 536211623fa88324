// Method: a request with every field set, to JSON and back; then keys and values that are wrong.
#include "common/plan/request.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;

Request Everything() {
  Request r;
  r.suite = "mine";
  r.inline_suite = *ParseSuite(
      "name: mine\nloader: path\ndescription: d\nsource: s\nmodels:\n"
      "  - {name: net, file: models/net.py, class: Net, batch_size: 4, flaky: f, "
      "typical_compile_s: 2.5,\n"
      "     skip: [{when: {device: cpu, freezing: true}, reason: r, slow: true}],\n"
      "     information: {a: 1.10}, inductor_config: {k: v}, batch_size_fixed: true, newer: true,\n"
      "     requires: [\"torch>=2.10\"], batch_size_batch_invariant: 9,\n"
      "     rules: [{reason: r, when: {precision: amp, cudagraphs: true, distributed: false},\n"
      "              tolerance: 0.1, precision: float32, cudagraphs: false, cosine: true}]}\n",
      "mine.yaml");
  r.model_files = {{"models/net.py", std::string(64, 'a')}};
  r.modes = {Mode::kTraining, Mode::kInference};
  r.tests = {plan::Test::kAccuracy};
  r.models = {"a"};
  r.only = {"b"};
  r.path_models = {{"path", "Net", std::string(64, 'b'), "net.py"}};
  r.filters = {"f"};
  r.excludes = {"x"};
  r.exclude_exact = {"y"};
  r.no_skip = r.fast = r.channels_last = r.randomize_input = true;
  r.configurations = {"default"};
  r.options = UpstreamOptions("inductor", false);
  r.options->inductor_config = {{"k", "v"}};
  r.precision = Precision::kFp16;
  r.device = "cuda";
  r.environments = {"nightly"};
  r.profile = "single-thread";
  r.starts = {Start::kWarm, Start::kShared};
  r.weights = Weights::kRandom;
  r.batch_size = 3;
  r.batch_sizes = {{"a", 5}};
  r.total_partitions = 7;
  r.partition_id = 6;
  r.policy = PartitionPolicy::kStatic;
  r.repeat = 31;
  r.iterations = 4;
  r.iterations_per_run = 5;
  r.threads = 6;
  r.target_precision = 0.02;
  r.precision_budget_ms = 7;
  r.timeout_ms = 1;
  r.tolerance = 0.5;
  r.amp_dtype = "float16";
  r.optimizer = "sgd";
  r.generation = "prefill";
  r.prompt_length = 8;
  r.distributed = "ddp";
  r.world_size = 2;
  r.diagnostics = {"trace"};
  r.instances = 3;
  r.cosine = r.use_eval_mode = r.deterministic = r.batch_invariant = r.explain = true;
  r.set_env = {{"A", "b"}};
  r.output = "o.csv";
  r.given = {"repeat", "weights"};
  r.label = "l\"\n";
  r.user = "u";
  r.priority = -1;
  return r;
}

TEST(RequestJson, CarriesEverything) {
  const Request request = Everything();
  const std::string text = ToJson(request);
  const auto back = RequestFromJson(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToJson(*back), text);
  EXPECT_EQ(back->inline_suite, request.inline_suite);
  EXPECT_EQ(back->options, request.options);
  EXPECT_EQ(back->given, request.given);
  EXPECT_EQ(back->model_files, request.model_files);
  EXPECT_EQ(back->path_models, request.path_models);
}

TEST(RequestJson, WhatIsMissingKeepsItsDefault) {
  const auto request = RequestFromJson("{\"suite\":\"timm\"}");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(ToJson(*request), ToJson(Timm()));
}

// What version 0.1 stored has fewer options and no parameters.
TEST(RequestJson, ReadsWhatAnOlderVersionStored) {
  const auto request = RequestFromJson(
      R"({"options": {"backend": "inductor", "cudagraphs": true},
          "path_models": [{"loader": "path", "name": "Net", "file_sha256": "", "file_name": ""}]})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->options, UpstreamOptions("inductor", false));
  EXPECT_EQ(request->path_models.at(0).name, "Net");
  const auto experiment = ExperimentFromJson(R"({"suite": "timm", "options": {"freezing": true}})");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_TRUE(experiment->options.freezing);
}

TEST(RequestJson, NamesTheKeyThatIsWrong) {
  struct Case {
    const char* text;
    const char* says;
  };
  for (const Case& c : {
           Case{"{", "request is not valid JSON"},
           Case{"[]", "request is not a JSON object"},
           Case{"{\"suit\": 1}", "unknown key \"suit\""},
           Case{"{\"suite\": 1}", "\"suite\" has a wrong value: 1"},
           Case{"{\"repeat\": 1.5}", "\"repeat\" has a wrong value: 1.5"},
           Case{"{\"repeat\": 4294967297}", "\"repeat\" has a wrong value"},
           Case{"{\"modes\": [\"train\"]}", "\"modes\" has a wrong value"},
           Case{"{\"policy\": \"random\"}", "\"policy\" has a wrong value"},
           Case{"{\"options\": {\"backend\": 1}}", "\"options\" has a wrong value"},
           Case{"{\"options\": {\"bakend\": \"inductor\"}}", "\"options\" has a wrong value"},
       }) {
    EXPECT_THAT(ErrorOf(RequestFromJson(c.text).status()), HasSubstr(c.says)) << c.text;
  }
}

TEST(UpstreamOptions, CudagraphsAreOnForInductorAlone) {
  EXPECT_TRUE(UpstreamOptions("inductor", false).cudagraphs);
  EXPECT_FALSE(UpstreamOptions("inductor", true).cudagraphs);
  EXPECT_FALSE(UpstreamOptions("aot_eager", false).cudagraphs);
}

}  // namespace
}  // namespace dynbench::plan

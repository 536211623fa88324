// Method: small files as text, good and bad; the installed ones are covered by the catalog's test.
#include "common/plan/configuration.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseConfiguration, ReadsEveryOption) {
  const auto configuration = ParseConfiguration(
      "name: all\n"
      "description: everything\n"
      "options:\n"
      "  backend: inductor\n"
      "  compile_mode: max-autotune\n"
      "  fullgraph: true\n"
      "  cudagraphs: true\n"
      "  freezing: true\n"
      "  cpp_wrapper: true\n"
      "  max_autotune: true\n"
      "  dynamic_batch_only: true\n"
      "  inductor_config: {max_fusion_size: 64}\n"
      "  dynamo_config: {cache_size_limit: \"8\"}\n"
      "  functorch_config: {bundled_autograd_cache: true}\n",
      "all.yaml");
  ASSERT_TRUE(configuration.ok()) << configuration.status();
  CompileOptions wanted;
  wanted.compile_mode = "max-autotune";
  wanted.fullgraph = wanted.cudagraphs = wanted.freezing = true;
  wanted.cpp_wrapper = wanted.max_autotune = true;
  wanted.dynamic_shapes = wanted.dynamic_batch_only = true;  // the second implies the first
  wanted.inductor_config = {{"max_fusion_size", "64"}};
  wanted.dynamo_config = {{"cache_size_limit", "8"}};
  wanted.functorch_config = {{"bundled_autograd_cache", "true"}};
  EXPECT_EQ(configuration->options, wanted);
}

TEST(ParseConfiguration, RefusesWhatWouldHaveNoEffect) {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {"name: x\n", "the key \"options\" is missing"},
      {"name: x\noptions: {}\n", "the key \"backend\" is missing"},
      {"name: x\noptions: {backend: inductor, cudagraph: true}\n", "did you mean \"cudagraphs\"?"},
      {"name: x\noptions: {backend: inductor, freezing: yes}\n", "wants true or false"},
      {"name: x\noptions: {backend: eager, cudagraphs: true}\n",
       "\"cudagraphs\" has no effect with the backend \"eager\"; remove it"},
      {"name: x\noptions: {backend: aot_eager, freezing: true}\n", "\"freezing\" has no effect"},
      {"name: x\noptions: {backend: nothing, dynamic_shapes: true}\n",
       "\"dynamic_shapes\" has no effect with the backend \"nothing\""},
      {"name: x\noptions: {backend: eager, functorch_config: {a: 1}}\n", "\"functorch_config\""},
      {"name: x\noptions: {backend: inductor, ahead_of_time: export, cudagraphs: true}\n",
       "\"cudagraphs\" has no effect with ahead_of_time export"},
      {"name: x\noptions: {backend: inductor, ahead_of_time: torchscript, dynamic_shapes: true}\n",
       "\"dynamic_shapes\" has no effect with ahead_of_time torchscript"},
      {"name: x\noptions: {backend: inductor, ahead_of_time: aot_inductor, cpp_wrapper: true}\n",
       "\"cpp_wrapper\" has no effect"},
      {"name: x\noptions: {backend: aot_eager, ahead_of_time: export}\n",
       "ahead_of_time export does not go through the backend \"aot_eager\""},
      {"name: x\noptions: {backend: inductor, dynamic_batch_only: true, "
       "unbacked_batch_only: true}\n",
       "dynamic_batch_only and unbacked_batch_only exclude each other"},
      {"name: x\noptions: {backend: inductor, ahead_of_time: aot}\n",
       "\"ahead_of_time\" wants one of export, aot_inductor, nativert, torchscript"},
      {"name: x\nmodes: [trainig]\noptions: {backend: inductor}\n", "did you mean \"training\"?"},
      {"name: x\nmeasure: {repeat: 0}\noptions: {backend: inductor}\n", "measure: \"repeat\""},
      {"name: custom\noptions: {backend: eager}\n", "kept for bare compiler flags"},
      {"name: a/b\noptions: {backend: eager}\n", "letters, digits"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ErrorOf(ParseConfiguration(c.text, "x.yaml").status()), HasSubstr(c.says))
        << c.text;
  }
}

TEST(ParseConfiguration, MayMeasureSomethingElseThanSpeed) {
  const auto configuration = ParseConfiguration(
      "name: x\n"
      "upstream_name: inductor_x\n"
      "modes: inference\n"
      "tests: [accuracy]\n"
      "measure: {starts: [cold, warm], repeat: 3, batch_invariant: true, generation: prefill}\n"
      "options: {backend: eager, dynamic_shapes: true, fullgraph: true}\n",
      "x.yaml");
  ASSERT_TRUE(configuration.ok()) << configuration.status();
  EXPECT_EQ(configuration->upstream_name, "inductor_x");
  EXPECT_THAT(configuration->modes, ElementsAre(Mode::kInference));
  EXPECT_THAT(configuration->tests, ElementsAre(plan::Test::kAccuracy));
  EXPECT_THAT(configuration->starts, ElementsAre(Start::kCold, Start::kWarm));
  EXPECT_EQ(configuration->repeat, 3);
  EXPECT_TRUE(configuration->batch_invariant);
  EXPECT_FALSE(configuration->deterministic);
  EXPECT_EQ(configuration->generation, "prefill");
}

TEST(ParseConfiguration, AnUnbackedBatchIsADynamicShape) {
  const auto configuration = ParseConfiguration(
      "name: x\noptions: {backend: inductor, unbacked_batch_only: true}\n", "x.yaml");
  ASSERT_TRUE(configuration.ok()) << configuration.status();
  EXPECT_TRUE(configuration->options.dynamic_shapes);
}

TEST(ParseProfile, ReadsVariablesAndLibraries) {
  const auto profile = ParseProfile(
      "name: tuned\nenvironment: {OMP_NUM_THREADS: 4}\npreload: [libjemalloc.so.2]\n"
      "numa: local\ninstances: 2\n",
      "t.yaml");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->environment.at("OMP_NUM_THREADS"), "4");
  EXPECT_THAT(profile->preload, ElementsAre("libjemalloc.so.2"));
  EXPECT_EQ(profile->numa, "local");
  EXPECT_EQ(profile->instances, 2);
  EXPECT_THAT(ErrorOf(ParseProfile("name: p\nenvironment: {LD_PRELOAD: x}\n", "p.yaml").status()),
              HasSubstr("given as the list \"preload\""));
  EXPECT_THAT(ErrorOf(ParseProfile("name: p\nenvironment: {\"A B\": x}\n", "p.yaml").status()),
              HasSubstr("no name of a variable"));
}

}  // namespace
}  // namespace dynbench::plan

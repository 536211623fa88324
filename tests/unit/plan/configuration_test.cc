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
      "  dynamo_config: {cache_size_limit: \"8\"}\n",
      "all.yaml");
  ASSERT_TRUE(configuration.ok()) << configuration.status();
  CompileOptions wanted;
  wanted.compile_mode = "max-autotune";
  wanted.fullgraph = wanted.cudagraphs = wanted.freezing = true;
  wanted.cpp_wrapper = wanted.max_autotune = true;
  wanted.dynamic_shapes = wanted.dynamic_batch_only = true;  // the second implies the first
  wanted.inductor_config = {{"max_fusion_size", "64"}};
  wanted.dynamo_config = {{"cache_size_limit", "8"}};
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
      {"name: x\noptions: {backend: eager, dynamic_shapes: true}\n", "\"dynamic_shapes\" has no"},
      {"name: custom\noptions: {backend: eager}\n", "kept for bare compiler flags"},
      {"name: a/b\noptions: {backend: eager}\n", "letters, digits"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ErrorOf(ParseConfiguration(c.text, "x.yaml").status()), HasSubstr(c.says))
        << c.text;
  }
}

TEST(ParseProfile, ReadsVariablesAndLibraries) {
  const auto profile = ParseProfile(
      "name: tuned\nenvironment: {OMP_NUM_THREADS: 4}\npreload: [libjemalloc.so.2]\n", "t.yaml");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->environment.at("OMP_NUM_THREADS"), "4");
  EXPECT_THAT(profile->preload, ElementsAre("libjemalloc.so.2"));
  EXPECT_THAT(ErrorOf(ParseProfile("name: p\nenvironment: {LD_PRELOAD: x}\n", "p.yaml").status()),
              HasSubstr("given as the list \"preload\""));
  EXPECT_THAT(ErrorOf(ParseProfile("name: p\nenvironment: {\"A B\": x}\n", "p.yaml").status()),
              HasSubstr("no name of a variable"));
}

}  // namespace
}  // namespace dynbench::plan

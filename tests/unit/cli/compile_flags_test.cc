// Method: command lines of upstream's CI and documents, and the options that upstream's parser
// would set for them.
#include "tools/dynbenchctl/compile_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

absl::StatusOr<std::optional<plan::CompileOptions>> Options(const std::vector<std::string>& words) {
  const auto flags = FlagsOf(words);
  if (!flags.ok()) return flags.status();
  return CompileOptionsOf(*flags);
}

plan::CompileOptions Ok(const std::vector<std::string>& words) {
  const auto options = Options(words);
  EXPECT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options.ok() && options->has_value());
  return options.ok() ? options->value_or(plan::CompileOptions()) : plan::CompileOptions();
}

TEST(CompileFlags, WithoutOneTheConfigurationDecides) {
  const auto options = Options({"--suite", "timm", "--accuracy", "--amp"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->has_value());
}

TEST(CompileFlags, CudagraphsAreOnWhereUpstreamSwitchesThemOn) {
  EXPECT_TRUE(Ok({"--inductor"}).cudagraphs);
  EXPECT_TRUE(Ok({"--export-aot-inductor"}).cudagraphs);
  EXPECT_FALSE(Ok({"--export-aot-inductor", "--disable-cudagraphs"}).cudagraphs);
  EXPECT_FALSE(Ok({"--backend=aot_eager"}).cudagraphs);
  EXPECT_FALSE(Ok({"--export-nativert"}).cudagraphs);
  EXPECT_FALSE(Ok({"--torchscript-jit-trace"}).cudagraphs);
  EXPECT_FALSE(Ok({"--quantization", "autoquant"}).cudagraphs);
}

TEST(CompileFlags, EveryPathHasItsWord) {
  EXPECT_EQ(Ok({"--export"}).ahead_of_time, "export");
  EXPECT_EQ(Ok({"--export-aot-inductor"}).ahead_of_time, "aot_inductor");
  EXPECT_EQ(Ok({"--export-nativert"}).ahead_of_time, "nativert");
  EXPECT_EQ(Ok({"--torchscript-jit-trace"}).ahead_of_time, "torchscript");
  EXPECT_EQ(Ok({"--aot-precompile"}).ahead_of_time, "aot_precompile");
  EXPECT_EQ(Ok({"--nothing"}).backend, "nothing");
  EXPECT_EQ(Ok({"--quantization", "int8dynamic"}).quantization, "int8dynamic");
}

TEST(CompileFlags, SwitchesThatAreSettingsBecomeSettings) {
  const plan::CompileOptions options =
      Ok({"--inductor", "--disable-split-reductions", "--disable-persistent-reductions",
          "--disable-divisible-by-16", "--compiled-autograd", "--caching-precompile",
          "--suppress-errors", "--specialize-int", "--propagate-real-tensors", "-c", "a=1",
          "--functorch-config", "b=2"});
  EXPECT_THAT(options.inductor_config,
              ElementsAre(Pair("a", "1"), Pair("split_reductions", "False"),
                          Pair("triton.divisible_by_16", "False"),
                          Pair("triton.persistent_reductions", "False")));
  EXPECT_THAT(options.dynamo_config,
              ElementsAre(Pair("caching_precompile", "True"),
                          Pair("capture_dynamic_output_shape_ops", "True"),
                          Pair("capture_scalar_outputs", "True"), Pair("compiled_autograd", "True"),
                          Pair("specialize_int", "True"), Pair("suppress_errors", "True")));
  EXPECT_THAT(options.functorch_config,
              ElementsAre(Pair("b", "2"), Pair("fake_tensor_propagate_real_tensors", "True")));
}

TEST(CompileFlags, ASettingThatIsGivenTwiceIsRefused) {
  const auto options =
      Options({"--disable-split-reductions", "-c", "split_reductions=True"}).status();
  EXPECT_THAT(std::string(options.message()), HasSubstr("--disable-split-reductions"));
  EXPECT_THAT(std::string(options.message()), HasSubstr("split_reductions"));
}

TEST(CompileFlags, MarkingTheBatchImpliesDynamicShapes) {
  EXPECT_TRUE(Ok({"--unbacked-batch-only"}).dynamic_shapes);
  EXPECT_TRUE(Ok({"--unbacked-batch-only"}).unbacked_batch_only);
  EXPECT_TRUE(Ok({"--dynamic-batch-only"}).dynamic_shapes);
}

}  // namespace
}  // namespace dynbench::cli

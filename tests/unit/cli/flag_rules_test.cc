// Method: pairs of flags as people combine them by mistake; each must be refused by a sentence that
// names both, or the one that would do nothing; and upstream's own combinations must pass.
#include "tools/dynbenchctl/flag_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

// All rules: those among the flags, and those that the request itself is held to.
absl::Status Check(std::vector<std::string> words) {
  words.insert(words.begin(), {"--suite", "timm"});
  return RequestOf(words).status();
}

TEST(FlagRules, WhatExcludesEachOtherNamesBoth) {
  const std::vector<std::vector<std::string>> pairs = {
      {"--float32", "--amp"},
      {"--inference", "--training"},
      {"--performance", "--accuracy"},
      {"--accuracy", "--tolerance"},
      {"--tolerance", "--find-batch-sizes"},
      {"--cold-start-latency", "--warm-start-latency"},
      {"--inductor", "--export"},
      {"--nothing", "--export-aot-inductor"},
      {"--export-nativert", "--torchscript-jit-trace"},
      {"--dynamic-batch-only", "--unbacked-batch-only"},
      {"--dynamic-batch-only", "--compare-backed-unbacked"},
      {"--ddp", "--fsdp"},
  };
  for (const auto& pair : pairs) {
    const absl::Status status = Check(pair);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << pair[0] << " " << pair[1];
    for (const std::string& flag : pair)
      EXPECT_THAT(std::string(status.message()), HasSubstr(flag));
  }
}

TEST(FlagRules, WhatWouldHaveNoEffectIsRefused) {
  const std::vector<std::vector<std::string>> lines = {
      {"--optimizer", "sgd", "--inference"},
      {"--use-eval-mode", "--inference"},
      {"--world-size", "3"},
      {"--optimize-ddp-mode", "x", "--fsdp"},
      {"--amp-dtype", "float16", "--float32"},
      {"--suppress-errors", "--accuracy"},
      {"--cosine", "--performance"},
      {"--batch-invariant", "--performance"},
      {"--minify", "--tolerance"},
      {"--deterministic", "--accuracy"},
      {"--dump-raw-metrics", "--accuracy", "--output", "x.csv", "--wait"},
      {"--instances", "2", "--accuracy"},
      {"--scripts", "/s"},
      {"--baseline", "x.csv"},
      {"--dump-raw-metrics"},
      {"--wait-timeout", "3"},
      {"--output", "x.csv"},
  };
  for (const auto& line : lines) {
    const absl::Status status = Check(line);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << line[0];
    EXPECT_THAT(std::string(status.message()), HasSubstr(line[0]));
    EXPECT_THAT(std::string(status.message()), HasSubstr("no effect"));
  }
}

TEST(FlagRules, AProgramNeedsItsEngineAndAnEngineItsProgram) {
  EXPECT_TRUE(Check({"--engine", "command", "--", "./bench", "--accuracy"}).ok());
  EXPECT_THAT(std::string(Check({"--engine", "command"}).message()), HasSubstr("after --"));
  EXPECT_THAT(std::string(Check({"--", "./bench"}).message()), HasSubstr("--engine command"));
  EXPECT_THAT(std::string(Check({"--engine", "script"}).message()), HasSubstr("--scripts"));
  EXPECT_TRUE(Check({"--engine", "script", "--scripts", "/opt/scripts"}).ok());
}

TEST(FlagRules, UpstreamsCombinationsPass) {
  EXPECT_TRUE(Check({"--performance", "--inference", "--find-batch-sizes", "--only", "x"}).ok())
      << "upstream's parser demands a test beside it";
  EXPECT_TRUE(Check({"--accuracy", "--training", "--amp", "--ddp", "--multiprocess"}).ok());
  EXPECT_TRUE(Check({"--accuracy", "--inference", "--bfloat16", "--export", "--disable-cudagraphs",
                     "--no-translation-validation"})
                  .ok());
}

}  // namespace
}  // namespace dynbench::cli

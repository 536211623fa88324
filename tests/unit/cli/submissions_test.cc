// Method: flags that mean several jobs, and a preset made here; what each submission asks for.
#include "tools/dynbenchctl/submissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Submissions, OneForUsualFlags) {
  const auto all = RequestsOf({"--suite", "timm"});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 1U);
}

TEST(Submissions, BackedAndUnbackedDifferInThatAlone) {
  const auto all =
      RequestsOf({"--suite", "timm", "--performance", "--inductor", "--disable-cudagraphs",
                  "--compare-backed-unbacked", "--label", "x", "--output", "o.csv", "--dry-run"});
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2U);
  plan::Request backed = (*all)[0].request, unbacked = (*all)[1].request;
  EXPECT_TRUE(backed.options->dynamic_batch_only);
  EXPECT_TRUE(unbacked.options->unbacked_batch_only);
  EXPECT_EQ(backed.label, "x backed");
  EXPECT_EQ(unbacked.output, "o_unbacked.csv");
  for (plan::Request* request : {&backed, &unbacked}) {
    request->options->dynamic_batch_only = request->options->unbacked_batch_only = false;
    request->label = request->output = "";
  }
  EXPECT_EQ(plan::ToJson(backed), plan::ToJson(unbacked));
}

plan::Preset Nightly() {
  plan::Preset preset;
  preset.name = "nightly";
  for (const char* suite : {"timm", "huggingface"}) {
    plan::Request request;
    request.suite = suite;
    request.configurations = {"default", "cudagraphs"};
    request.precision = plan::Precision::kAmp;
    preset.submissions.push_back(request);
  }
  return preset;
}

plan::Request Typed(const std::vector<std::string>& words) {
  std::vector<std::string> line = {"--preset", "nightly"};
  line.insert(line.end(), words.begin(), words.end());
  const auto built = RequestOf(line);
  EXPECT_TRUE(built.ok()) << built.status();
  return built.ok() ? built->request : plan::Request();
}

TEST(FillPreset, WhatIsTypedSaysWhereAndWhich) {
  const auto all = FillPreset(
      Nightly(), Typed({"--environment", "base,new", "--models", "a,b", "--label", "try"}), "");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].suite, "huggingface");
  EXPECT_EQ((*all)[1].precision, plan::Precision::kAmp);
  EXPECT_THAT((*all)[1].environments, ElementsAre("base", "new"));
  EXPECT_THAT((*all)[0].models, ElementsAre("a", "b"));
  EXPECT_THAT((*all)[0].configurations, ElementsAre("default", "cudagraphs"));
  EXPECT_EQ((*all)[0].label, "try");
}

TEST(FillPreset, ASuiteNarrows) {
  const auto all = FillPreset(Nightly(), Typed({}), "timm");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ((*all)[0].label, "nightly");
  EXPECT_THAT(std::string(FillPreset(Nightly(), Typed({}), "none").status().message()),
              HasSubstr("--suite none"));
}

TEST(FillPreset, WhatThePresetDecidesIsRefused) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--inductor"},
                                                                 {"--accuracy"},
                                                                 {"--training"},
                                                                 {"--float32"},
                                                                 {"--configuration", "x"},
                                                                 {"--explain"}}) {
    const auto all = FillPreset(Nightly(), Typed(words), "");
    EXPECT_TRUE(absl::IsInvalidArgument(all.status())) << words[0];
    EXPECT_THAT(std::string(all.status().message()), HasSubstr("--preset nightly"));
  }
}

TEST(Submissions, APresetWritesNoSingleFile) {
  EXPECT_THAT(
      std::string(RequestsOf({"--preset", "x", "--output", "a.csv", "--wait"}).status().message()),
      HasSubstr("--output-directory"));
}

}  // namespace
}  // namespace dynbench::cli

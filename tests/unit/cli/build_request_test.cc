// Method: command lines as people and upstream's scripts type them, and what each asks the
// coordinator for. Wrong ones must name the flag and be usage errors.
#include "tools/dynbenchctl/build_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/sha256.h"
#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using plan::Mode;
using plan::PartitionPolicy;
using plan::Precision;
using plan::Start;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

plan::Request Ok(const std::vector<std::string>& words) {
  auto built = RequestOf(words);
  EXPECT_TRUE(built.ok()) << built.status();
  return built.ok() ? built->request : plan::Request();
}

TEST(BuildRequest, ABareSubmitLeavesEverythingToItsDefaults) {
  plan::Request bare;
  bare.suite = "timm";
  EXPECT_EQ(plan::ToJson(Ok({"--suite", "timm"})), plan::ToJson(bare));
}

TEST(BuildRequest, UpstreamsInferenceCommand) {
  const plan::Request r =
      Ok({"--suite", "timm", "--performance", "--inference", "--bfloat16", "--backend=inductor",
          "--output=timm_models_inference.csv", "--dry-run"});
  EXPECT_THAT(r.modes, ElementsAre(Mode::kInference));
  EXPECT_THAT(r.tests, ElementsAre(plan::Test::kPerformance));
  EXPECT_EQ(r.precision, Precision::kBf16);
  ASSERT_TRUE(r.options.has_value());
  EXPECT_EQ(r.options->backend, "inductor");
  EXPECT_TRUE(r.options->cudagraphs) << "upstream's meaning of a bare backend";
  EXPECT_EQ(r.output, "timm_models_inference.csv");
}

TEST(BuildRequest, UpstreamsTrainingCommand) {
  const plan::Request r =
      Ok({"--suite", "timm", "--performance", "--training", "--amp", "--backend=inductor",
          "--output=timm_models_training.csv", "--dry-run"});
  EXPECT_THAT(r.modes, ElementsAre(Mode::kTraining));
  EXPECT_EQ(r.precision, Precision::kAmp);
}

TEST(BuildRequest, DashboardFlags) {
  const plan::Request r = Ok(
      {"--suite", "timm", "--inference", "--bfloat16", "--inductor", "--disable-cudagraphs",
       "--cold_start_latency", "--freezing", "--cpp-wrapper", "--nopython", "--dynamic-batch-only",
       "--inductor-compile-mode=max-autotune", "-c", "epilogue_fusion=False",
       "--inductor-config=max_autotune=true", "--dynamo-config", "recompile_limit=4"});
  ASSERT_TRUE(r.options.has_value());
  EXPECT_FALSE(r.options->cudagraphs);
  EXPECT_TRUE(r.options->freezing);
  EXPECT_TRUE(r.options->cpp_wrapper);
  EXPECT_TRUE(r.options->fullgraph);
  EXPECT_TRUE(r.options->dynamic_batch_only);
  EXPECT_TRUE(r.options->dynamic_shapes) << "implied, as upstream";
  EXPECT_EQ(r.options->compile_mode, "max-autotune");
  EXPECT_THAT(r.options->inductor_config,
              ElementsAre(Pair("epilogue_fusion", "False"), Pair("max_autotune", "true")));
  EXPECT_THAT(r.options->dynamo_config, ElementsAre(Pair("recompile_limit", "4")));
  EXPECT_THAT(r.starts, ElementsAre(Start::kCold));
}

TEST(BuildRequest, SelectionAndShortForms) {
  const plan::Request r =
      Ok({"--suite", "timm", "-k", "mobile", "-k", "[gd]host", "-x", "v3", "--exclude-exact", "a",
          "--exclude-exact=b", "-f", "-n", "3", "-t2", "-d", "cpu"});
  EXPECT_THAT(r.filters, ElementsAre("mobile", "[gd]host"));
  EXPECT_THAT(r.excludes, ElementsAre("v3"));
  EXPECT_THAT(r.exclude_exact, ElementsAre("a", "b"));
  EXPECT_TRUE(r.fast);
  EXPECT_EQ(r.repeat, 3);
  EXPECT_EQ(r.threads, 2);
  EXPECT_EQ(r.device, "cpu");
  EXPECT_EQ(r.given.count("repeat"), 1U);
}

TEST(BuildRequest, PrecisionIsPercentWithABudget) {
  plan::Request r = Ok({"--suite", "timm", "--performance", "--target-precision", "0.5%"});
  EXPECT_DOUBLE_EQ(r.target_precision, 0.005);
  EXPECT_EQ(r.precision_budget_ms, 30'000);
  r = Ok({"--suite", "timm", "--target-precision", "2", "--precision-budget", "2m"});
  EXPECT_DOUBLE_EQ(r.target_precision, 0.02);
  EXPECT_EQ(r.precision_budget_ms, 120'000);
}

TEST(BuildRequest, ListsWithCommas) {
  const plan::Request r = Ok({"--suite", "timm", "--mode", "inference,training", "--test=accuracy",
                              "--models", "a,b", "--start", "cold,warm", "--environment", "x,y"});
  EXPECT_THAT(r.modes, ElementsAre(Mode::kInference, Mode::kTraining));
  EXPECT_THAT(r.tests, ElementsAre(plan::Test::kAccuracy));
  EXPECT_THAT(r.models, ElementsAre("a", "b"));
  EXPECT_THAT(r.starts, ElementsAre(Start::kCold, Start::kWarm));
  EXPECT_THAT(r.environments, ElementsAre("x", "y"));
}

TEST(BuildRequest, PartitionFlagsAloneAreUpstreamsSlices) {
  plan::Request r = Ok({"--suite", "timm", "--total-partitions", "7", "--partition-id", "6"});
  EXPECT_EQ(r.policy, PartitionPolicy::kStatic);
  EXPECT_EQ(r.partition_id, 6);
  r = Ok({"--suite", "timm", "--total-partitions", "7", "--partition-policy", "balanced"});
  EXPECT_EQ(r.policy, PartitionPolicy::kBalanced);
  EXPECT_EQ(r.partition_id, -1);
}

TEST(BuildRequest, TimeoutIsInSeconds) {
  EXPECT_EQ(Ok({"--suite", "timm", "--timeout", "1.5"}).timeout_ms, 1500);
}

TEST(BuildRequest, APathModelTravelsWithItsBytes) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("größer model.py", "class Net: pass\n");
  const auto built = RequestOf({"--only", "path:" + file + ",class:Net"});
  ASSERT_TRUE(built.ok()) << built.status();
  const std::string sha256 = Sha256Hex("class Net: pass\n");
  ASSERT_EQ(built->files.size(), 1U);
  EXPECT_EQ(built->files[0].bytes, "class Net: pass\n");
  EXPECT_EQ(built->files[0].sha256, sha256);
  ASSERT_EQ(built->request.path_models.size(), 1U);
  EXPECT_EQ(built->request.path_models[0],
            (plan::ModelSource{"path", "Net", sha256, "größer model.py"}));
  EXPECT_EQ(built->request.suite, "");
}

TEST(BuildRequest, ASuiteFileIsReadRelativeToTheCallersFolder) {
  const TemporaryFolder folder;
  folder.Write("model.py", "class Net: pass\n");
  folder.Write("mine.yaml",
               "schema: dynbench.suite/1\nname: mine\nloader: path\nmodels:\n"
               "  - name: net\n    file: model.py\n    class: Net\n    batch_size: 2\n");
  const auto built = RequestOf({"--suite", "mine.yaml"}, folder.path());
  ASSERT_TRUE(built.ok()) << built.status();
  ASSERT_TRUE(built->request.inline_suite.has_value());
  EXPECT_EQ(built->request.inline_suite->name, "mine");
  EXPECT_THAT(built->request.model_files,
              ElementsAre(Pair("model.py", Sha256Hex("class Net: pass\n"))));
  EXPECT_EQ(built->files.size(), 1U);
}

TEST(BuildRequest, AnUnreadableSuiteFileNamesPathAndLine) {
  const TemporaryFolder folder;
  folder.Write("bad.yaml", "schema: dynbench.suite/1\nname: mine\nmodells: []\n");
  const auto built = RequestOf({"--suite", "./bad.yaml"}, folder.path());
  EXPECT_THAT(std::string(built.status().message()), HasSubstr(folder.path() + "/bad.yaml:3"));
}

TEST(BuildRequest, BatchSizeFile) {
  const TemporaryFolder folder;
  folder.Write("sizes.csv", "a,4\nb,8\n");
  const auto built =
      RequestOf({"--suite", "timm", "--batch-size-file", "sizes.csv"}, folder.path());
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_THAT(built->request.batch_sizes, ElementsAre(Pair("a", 4), Pair("b", 8)));
}

TEST(BuildRequest, OutputIsRelativeToTheCallersFolder) {
  const TemporaryFolder folder;
  const auto built = RequestOf({"--suite", "timm", "--wait", "--output", "x.csv"}, folder.path());
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->output.folder + "/" + built->request.output, folder.path() + "/x.csv");
  const auto named = RequestOf(
      {"--suite", "timm", "--accuracy", "--wait", "--output-directory", "."}, folder.path());
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->request.output, "accuracy_inductor.csv") << "upstream's name";
  const auto missing =
      RequestOf({"--suite", "timm", "--wait", "--output", "no/x.csv"}, folder.path());
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument)
      << "said before the job, not after it";
}

struct BadCase {
  std::vector<std::string> words;
  std::vector<std::string> named;  // in the message
};

TEST(BuildRequest, WrongOnesAreUsageErrorsThatNameTheFlag) {
  const BadCase cases[] = {
      {{}, {"--suite"}},
      {{"--suite", "timm", "--amp", "--bfloat16"}, {"--amp", "--bfloat16"}},
      {{"--suite", "timm", "--precision", "amp", "--float16"}, {"--precision", "--float16"}},
      {{"--suite", "timm", "--performance", "--accuracy"}, {"--performance", "--accuracy"}},
      {{"--suite", "timm", "--training", "--mode", "inference"}, {"--training", "--mode"}},
      {{"--suite", "timm", "--inductor", "--backend", "eager"}, {"--inductor", "--backend"}},
      {{"--suite", "timm", "--cold-start-latency", "--start", "warm"}, {"--start"}},
      {{"--suite", "timm", "--output", "x.csv"}, {"--output", "--wait"}},
      {{"--suite", "timm", "--wait", "--output", "x.csv", "--disable-output"},
       {"--disable-output"}},
      {{"--suite", "timm", "--wait-timeout", "3"}, {"--wait-timeout", "--wait"}},
      {{"--suite", "timm", "--wait", "--wait-timeout", "0"}, {"--wait-timeout"}},
      {{"--suite", "timm", "--backend", "eager", "--freezing"}, {"--freezing", "eager"}},
      {{"--suite", "timm", "--backend", "eager", "--disable-cudagraphs"}, {"--disable-cudagraphs"}},
      {{"--suite", "timm", "--configuration", "default", "--nopython"}, {"--configuration"}},
      {{"--suite", "timm", "--accuracy", "--repeat", "30"}, {"--repeat"}},
      {{"--suite", "timm", "--performance", "--iterations", "2"}, {"--iterations"}},
      {{"--suite", "timm", "--batch-size", "0"}, {"--batch-size"}},
      {{"--suite", "timm", "--repeat", "-3"}, {"--repeat", "-3"}},
      {{"--suite", "timm", "--repeat", "many"}, {"--repeat", "many"}},
      {{"--suite", "timm", "--timeout", "0"}, {"--timeout"}},
      {{"--suite", "timm", "--target-precision", "fine"}, {"--target-precision", "fine", "1%"}},
      {{"--suite", "timm", "--target-precision", "0%"}, {"--target-precision", "0%"}},
      {{"--suite", "timm", "--precision-budget", "10s"}, {"--precision-budget", "alone"}},
      {{"--suite", "timm", "--accuracy", "--target-precision", "1%"}, {"--target-precision"}},
      {{"--suite", "timm", "--partition-id", "1"}, {"--partition-id"}},
      {{"--suite", "timm", "--partition-policy", "static"}, {"--partition-policy"}},
      {{"--suite", "timm", "--total-partitions", "7", "--partition-id", "7"}, {"--partition-id 7"}},
      {{"--suite", "timm", "--set-env", "NOVALUE"}, {"--set-env", "NOVALUE"}},
      {{"--suite", "timm", "-c", "a=1", "-c", "a=2"}, {"a=2", "twice"}},
      {{"--suite", "timm", "-d", "cpu", "-d", "cuda"}, {"--device"}},
      {{"--suite", "/none/such.yaml"}, {"/none/such.yaml"}},
      {{"--suite", "timm", "--batch-size-file", "/none/such"}, {"/none/such"}},
      {{"--only", "path:relative.py,class:Net"}, {"relative.py", "absolute"}},
      {{"--only", "path:/none/such.py,class:Net"}, {"/none/such.py"}},
      {{"--only", "path:/none/such.py"}, {"class"}},
      {{"--suite", "timm", "--start", "cold,lukewarm"}, {"--start", "lukewarm"}},
  };
  for (const BadCase& c : cases) {
    const auto built = RequestOf(c.words);
    std::string line;
    for (const std::string& word : c.words) line += word + " ";
    ASSERT_FALSE(built.ok()) << line;
    EXPECT_TRUE(absl::IsInvalidArgument(built.status()) || absl::IsNotFound(built.status()))
        << line << built.status();
    for (const std::string& name : c.named) {
      EXPECT_THAT(std::string(built.status().message()), HasSubstr(name)) << line;
    }
  }
}

}  // namespace
}  // namespace dynbench::cli

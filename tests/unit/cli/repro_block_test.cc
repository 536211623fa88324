// Method: plan experiments from command lines, write each one's repro command, plan that again and
// compare: the block must repeat exactly the experiment. Then what the block says and how it
// quotes.
#include "tools/dynbenchctl/repro_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <sstream>

#include "common/plan/catalog.h"
#include "common/plan/expand.h"
#include "tests/unit/cli/rows_testing.h"
#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

const plan::Catalog& Installed() {
  static const auto* const catalog =
      new plan::Catalog(*plan::LoadCatalog(*plan::FindSuitesFolder()));
  return *catalog;
}

plan::Plan PlanOf(const std::vector<std::string>& words) {
  const auto built = RequestOf(words);
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) return {};
  const auto plan = plan::Expand(built->request, Installed(), {"cpu", "x86_64"},
                                 [](const plan::Experiment&) { return 1.0; });
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

TEST(Repro, TheCommandPlansTheSameExperiment) {
  const std::vector<std::string> lines[] = {
      {"--suite", "timm", "--models", "mobilenetv2_100"},
      {"--suite", "timm", "--models", "ghostnet_100", "--float32", "--batch-size", "2", "--repeat",
       "5", "--iterations", "3", "--threads", "2", "--timeout", "90.5", "--weights", "random"},
      {"--suite", "timm", "--models", "repvgg_a2", "--backend=inductor", "--inference"},
      {"--suite", "timm", "--models", "repvgg_a2", "--backend=aot_eager", "--dynamic-shapes",
       "--nopython"},
      {"--suite", "timm", "--models", "repvgg_a2", "--inductor", "--disable-cudagraphs",
       "--freezing", "--cpp-wrapper", "--inductor-compile-mode", "max-autotune", "-c", "a=b c",
       "--dynamo-config", "x=1", "--dynamic-batch-only"},
      {"--suite", "timm", "--models", "repvgg_a2", "--start", "warm", "--channels-last",
       "--set-env", "A=b c", "--configuration", "freezing", "--profile", "single-thread",
       "--environment", "nightly"},
      {"--suite", "timm", "--models", "repvgg_a2", "--performance", "--randomize-input",
       "--iterations-per-run", "2", "--target-precision", "0.5%", "--precision-budget", "90s"},
      {"--suite", "timm", "--models", "repvgg_a2", "--accuracy", "--accuracy-tolerance", "0.02",
       "--iterations", "4", "--max-autotune", "--functorch-config", "x=1", "--dynamic-shapes"},
      {"--suite", "timm", "--models", "repvgg_a2", "--tolerance"},
      {"--suite", "timm", "--models", "repvgg_a2", "--find-batch-sizes"},
  };
  for (const auto& line : lines) {
    for (const plan::Experiment& wanted : PlanOf(line).experiments) {
      std::vector<std::string> words = ReproArguments(wanted);
      ASSERT_EQ(words.front(), "submit");
      words.erase(words.begin());
      const plan::Plan again = PlanOf(words);
      ASSERT_EQ(again.experiments.size(), 1U);
      EXPECT_EQ(plan::ToJson(again.experiments[0]), plan::ToJson(wanted));
    }
  }
}

TEST(Repro, APathModelsCommandPlansTheSameExperiment) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("model.py", "class Net: pass\n");
  const plan::Plan plan = PlanOf({"--only", "path:" + file + ",class:Net", "--backend", "eager"});
  ASSERT_EQ(plan.experiments.size(), 2U);
  for (const plan::Experiment& wanted : plan.experiments) {
    std::vector<std::string> words = ReproArguments(wanted);
    words.erase(words.begin());
    for (std::string& word : words) {
      if (word.rfind("path:/", 0) == 0) word = "path:" + folder.path() + "/" + word.substr(6);
    }
    const plan::Plan again = PlanOf(words);
    ASSERT_EQ(again.experiments.size(), 1U);
    EXPECT_EQ(plan::ToJson(again.experiments[0]), plan::ToJson(wanted));
  }
}

TEST(Repro, TheBlockHasWhatSomebodyElseNeeds) {
  ExperimentView view;
  view.row = Failed(17, "repvgg_a2", "killed by signal 11\nline two");
  view.row.row.worker = WorkerId("w1");
  view.row.row.worker_host = "bench-1";
  view.row.row.experiment.set_env["A"] = "it's";
  view.row.row.result->in_force["inductor.freezing"] = "False";
  view.environment_json =
      R"({"name":"default","torch_version":"2.14.1","torch_git":"abc","packages":{"timm":"1.0"}})";
  const std::string block = ReproBlock(view);
  for (const char* part :
       {"experiment: 17 of job 3", "2.14.1", "abc", "timm 1.0", "bench-1",
        "inductor.freezing=False", "killed by signal 11",
        "dynbenchctl submit --suite timm --only repvgg_a2", "--set-env 'A=it'\\''s'"}) {
    EXPECT_THAT(block, HasSubstr(part));
  }
  std::istringstream lines(block);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) commands += line[0] == '#' ? 0 : 1;
  EXPECT_EQ(commands, 1) << "comments and one command, so that pasting it runs it:\n" << block;
}

TEST(Repro, APathModelsBlockBringsItsFile) {
  const TemporaryFolder folder;
  ExperimentView view;
  view.row = Passed(1, "Net");
  view.row.row.experiment.suite = "path";
  view.row.row.experiment.source = {"path", "Net", "00ff", "it's größer.py"};
  static constexpr char kFile[] = "class Net: pass  # \0 no line end";
  view.model_file = std::string(kFile, sizeof kFile - 1);
  // The block runs in a shell whose dynbenchctl prints the flag that names the model.
  const std::string script =
      folder.Write("block.sh", "cd '" + folder.path() + "'; dynbenchctl() { echo \"$3\"; }\n" +
                                   ReproBlock(view));
  FILE* pipe = popen(("sh '" + script + "'").c_str(), "r");
  std::string only;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) only.push_back(static_cast<char>(c));
  EXPECT_EQ(pclose(pipe), 0);
  const std::string path = folder.path() + "/dynbench-repro/it's größer.py";
  EXPECT_EQ(only, "path:" + path + ",class:Net\n");
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), view.model_file);
}

TEST(Repro, ShellQuoting) {
  EXPECT_EQ(ShellQuote("plain-1.0_x=y,z:/a"), "plain-1.0_x=y,z:/a");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("$(x)"), "'$(x)'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace dynbench::cli

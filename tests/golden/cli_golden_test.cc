// Method: run command lines in this process and compare what they print with the files in
// tests/golden/cli: help of every verb, and every reading verb on a seeded database (--db), as text
// and as JSON. tests/golden/update writes the files anew; read the difference before committing it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#include "tests/golden/golden_testing.h"
#include "tests/golden/seeded_store.h"
#include "tools/dynbenchctl/command_tree.h"
#include "tools/dynbenchctl/run.h"

namespace dynbench::cli {
namespace {

class Golden : public SeededTest<&golden::SeedStore> {
 protected:
  static Ran Type(const std::vector<std::string>& words) { return RunIn(folder_, words); }
};

TEST_F(Golden, HelpOfEveryVerb) {
  CommandTree tree;
  AddAllVerbs(tree);
  std::function<void(const CLI::App&, const std::vector<std::string>&)> visit =
      [&](const CLI::App& app, const std::vector<std::string>& words) {
        std::string name = "help";
        for (const std::string& word : words) name += "_" + word;
        std::vector<std::string> line = words;
        line.push_back("--help");
        const Ran ran = Type(line);
        EXPECT_EQ(ran.code, 0) << ran.err;
        CompareWithFile(name + ".txt", ran.out);
        for (const CLI::App* verb : app.get_subcommands({})) {
          std::vector<std::string> deeper = words;
          deeper.push_back(verb->get_name());
          visit(*verb, deeper);
        }
      };
  visit(tree.root(), {});
}

TEST_F(Golden, ReadingVerbsOnADatabase) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"status.txt", {"status"}},
      {"status.json", {"status", "1", "--json"}},
      {"results.txt", {"results", "1"}},
      {"results_accuracy.txt", {"results", "1", "--test", "accuracy"}},
      {"results.json", {"results", "1", "--json"}},
      {"results_samples.json", {"results", "1", "--test", "performance", "--json", "--samples"}},
      {"results_performance.csv", {"results", "1", "--csv", "--test", "performance"}},
      {"results_accuracy.csv", {"results", "1", "--csv", "--test", "accuracy"}},
      {"results_pays.txt", {"results", "1", "--pays"}},
      {"results_pays.json", {"results", "1", "--pays", "--json"}},
      {"results_coverage.txt", {"results", "1", "--coverage", "--models", "resnet50"}},
      {"results_coverage.json", {"results", "1", "--coverage", "--json"}},
      {"logs.txt", {"logs", "1", "mobilenetv2_100"}},
      {"explain_job.txt", {"explain", "1"}},
      {"explain_experiment.txt", {"explain", "e3"}},
      {"explain_experiment.json", {"explain", "e3", "--json"}},
      {"repro.txt", {"repro", "1"}},
      {"repro_model.txt", {"repro", "1", "mobilenetv2_100"}},
      {"repro.json", {"repro", "3", "--json"}},
      {"env_list.txt", {"env", "list"}},
      {"env_show.json", {"env", "show", "default", "--json"}},
      {"workers.txt", {"workers"}},
      {"workers.json", {"workers", "--json"}},
      {"idle.txt", {"idle", "--since", "36500d"}},
      {"idle_by_slot.txt", {"idle", "--since", "36500d", "--by-slot"}},
  };
  for (const auto& [name, words] : cases) {
    std::vector<std::string> line = words;
    line.insert(line.end(), {"--db", "seeded.db"});
    const Ran ran = Type(line);
    EXPECT_EQ(ran.code, 0) << name << ": " << ran.err;
    EXPECT_EQ(ran.err, "") << name << ": progress and notes are for terminals";
    CompareWithFile(name, ran.out);
  }
}

// One CSV holds one test: of a job with both it is performance, and stderr says what is left out.
TEST_F(Golden, CsvOfAJobWithBothTests) {
  const Ran ran = Type({"results", "1", "--csv", "--db", "seeded.db"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, ::testing::HasSubstr("--test accuracy"));
  CompareWithFile("results_performance.csv", ran.out);
}

// A test that the job does not have is an error, not an empty page.
TEST_F(Golden, ATestThatTheJobLacks) {
  const Ran ran = Type({"results", "1", "--test", "tolerance", "--db", "seeded.db"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, ::testing::HasSubstr("no tolerance test; it has accuracy, performance"));
}

// `export` and `results --output` write the rows that `results --csv` prints.
TEST_F(Golden, UpstreamsFiles) {
  const auto text = [](const std::string& name) -> std::string {
    std::ifstream file(folder_ + "/" + name);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  };
  Ran ran = Type({"export", "1", "--output", "made/out", "--db", "seeded.db"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string stem =
      "made/out/inductor_no_cudagraphs_timm_models_bfloat16_inference_cpu_performance";
  EXPECT_THAT(ran.out, ::testing::HasSubstr(stem + ".json"));
  CompareWithFile("results_performance.csv", text(stem + ".csv"));
  ran = Type({"results", "1", "--output", "r.csv", "--db", "seeded.db"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  CompareWithFile("results_performance.csv", text("r_performance.csv"));
  CompareWithFile("results_accuracy.csv", text("r_accuracy.csv"));
  CompareWithFile("export_accuracy.json", text("r_accuracy.json"));
}

TEST_F(Golden, TheSuites) {
  CompareWithFile("suite_show_model.txt", Type({"suite", "show", "timm", "visformer_small"}).out);
  CompareWithFile("suite_show_timm.txt", Type({"suite", "show", "timm"}).out);
  CompareWithFile("plan_slice.txt", Type({"plan", "--suite", "timm", "--total-partitions", "7",
                                          "--partition-id", "0", "--coordinator", "127.0.0.1:1"})
                                        .out);
}

// What the table shows is in the JSON, and in upstream's columns the CSV has the same models.
TEST_F(Golden, TheTableHasNothingThatTheJsonLacks) {
  const std::string json = Type({"results", "1", "--json", "--db", "seeded.db"}).out;
  std::istringstream table(Type({"results", "1", "--db", "seeded.db"}).out);
  for (const char* word :
       {"ghostnet_100", "mobilenetv2_100", "repvgg_a2", "nfnet_l0", "crash", "fail_accuracy",
        "killed by signal 11 (SIGSEGV)", "worker gone", "not on aarch64"}) {
    EXPECT_THAT(table.str(), ::testing::HasSubstr(word));
    EXPECT_THAT(json, ::testing::HasSubstr(word));
  }
}

TEST_F(Golden, UnknownThingsAreUsageErrorsThatNameThem) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"results", "4711"}, "4711"},
      {{"status", "4711"}, "4711"},
      {{"repro", "4711"}, "4711"},
      {{"explain", "4711"}, "4711"},
      {{"explain", "e4711"}, "4711"},
      {{"logs", "1", "mobilenetv2_10"}, "mobilenetv2_100"},
      {{"logs", "1", "nfnet_l0", "--test", "accuracy"}, "accuracy"},
      {{"env", "show", "defualt"}, "default"},
  };
  for (const auto& [words, named] : cases) {
    std::vector<std::string> line = words;
    line.insert(line.end(), {"--db", "seeded.db"});
    const Ran ran = Type(line);
    EXPECT_EQ(ran.code, 2) << words[0] << " " << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, ::testing::HasSubstr(named)) << words[0];
  }
}

}  // namespace
}  // namespace dynbench::cli

// Method: a job in which everything happens, written as files into a folder, then read back by a
// Python program that uses csv, json and a reader of the shape that upstream's own tools expect
// (read_upstream.py); what it found must be what was measured.
#include "common/formats/upstream_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/formats/upstream_csv.h"
#include "common/formats/upstream_json.h"
#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class UpstreamFilesTest : public testing::Test {
 protected:
  UpstreamFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "dynbench-files.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~UpstreamFilesTest() override { fs::remove_all(folder_); }

  // Writes the files and answers what read_upstream.py says of them.
  nlohmann::json ReadBack(const std::vector<UpstreamFile>& files) {
    for (const UpstreamFile& file : files) {
      std::ofstream(folder_ + "/" + file.name, std::ios::binary) << file.bytes;
    }
    const std::string command =
        std::string("python3 ") + DYNBENCH_READER + " " + folder_ + " > " + folder_ + "/answer";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream answer(folder_ + "/answer");
    const std::string text{std::istreambuf_iterator<char>(answer), {}};
    auto json = nlohmann::json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text;
    return json;
  }

  std::string folder_;
};

std::vector<store::ResultRow> Rows() {
  std::vector<store::ResultRow> rows = EveryKindOfRow();
  for (store::ResultRow& row : rows) row.experiment.output = "results.csv";
  plan::Result& first = *rows[0].result;
  first.compiler_report =
      R"({"compile_phases_s": {"inductor_compile": 12.5, "dynamo": 2}, "graph_breaks": [
         {"reason": "call to \"print\", twice", "user_stack": ["a.py:3", "b.py:4"]},
         {"reason": "call to \"print\", twice", "user_stack": ["c.py:5"]}]})";
  first.metrics.total_aot_graphs = 3;
  first.metrics.ok_aot_graphs = 2;
  first.eager_ns = {30'000'000, 31'000'000, 32'000'000};
  first.compiled_ns = {21'000'000, 22'000'000, 23'000'000};
  rows.push_back(Failed(Waiting("cannot,load", plan::Test::kAccuracy), "eager_fail_to_run",
                        plan::Phase::kLoad, plan::Blame::kModel, "no"));
  rows.back().experiment.output = "results.csv";
  return rows;
}

TEST_F(UpstreamFilesTest, PythonReadsBackWhatWasMeasured) {
  FilesBeside beside;
  beside.stats = beside.raw_timings = true;
  UpstreamOptions options;
  options.tag = "my,tag";
  options.baseline = std::map<std::string, double>{{"mobilenetv2_100", 1.25}};
  const auto json = ReadBack(UpstreamFiles(Rows(), PlannedName, options, beside));

  const auto& performance = json["csv"]["results_performance.csv"];
  ASSERT_EQ(performance.size(), 4U);
  EXPECT_EQ(performance[0]["name"], "mobilenetv2_100");
  EXPECT_EQ(performance[0]["tag"], "my,tag");
  EXPECT_EQ(performance[0]["speedup"], "1.420085");
  EXPECT_EQ(performance[0]["baseline"], "1.250000");
  EXPECT_EQ(performance[0]["speedup_vs_baseline"], "1.136068");
  EXPECT_EQ(performance[1]["baseline"], "") << "a missing baseline is empty, not zero";
  EXPECT_EQ(performance[2]["name"], "ghostnet_100");
  EXPECT_EQ(performance[2]["tag"], "my,tag") << "a failure row has the tag in its place";
  EXPECT_EQ(performance[2]["speedup"], "0.000000");
  EXPECT_EQ(json["csv"]["results_accuracy.csv"][2]["name"], "cannot,load");
  EXPECT_EQ(json["csv"]["results_accuracy.csv"][2]["accuracy"], "eager_fail_to_run");

  const auto& phases = json["csv"]["results_performance_compilation_metrics.csv"][0];
  EXPECT_EQ(phases["inductor_compile"], "12.500000");
  const auto& breaks = json["csv"]["results_performance_graph_breaks.csv"];
  ASSERT_EQ(breaks.size(), 2U);
  EXPECT_EQ(breaks[0]["reason"], "call to \"print\", twice");
  EXPECT_EQ(breaks[0]["user_stack"], "a.py:3\nb.py:4");
  EXPECT_EQ(json["csv"]["results_performance_graph_breaks_deduped.csv"].size(), 1U);
  EXPECT_EQ(json["csv"]["results_performance_stats.csv"][0]["ok_aot_graphs"], "2");
  EXPECT_EQ(json["npy"]["results_performance-raw_timings-mobilenetv2_100-cpu.npy"],
            nlohmann::json({{0.03, 0.021}, {0.031, 0.022}, {0.032, 0.023}}));
}

TEST_F(UpstreamFilesTest, TheDashboardsReaderFindsEveryRowThatWasTried) {
  const auto json = ReadBack(UpstreamFiles(Rows(), PlannedName, {}, {}));
  // {model: {metric: value}} as the reader of upstream's records has it.
  const auto& performance = json["records"]["results_performance.json"];
  EXPECT_DOUBLE_EQ(performance["mobilenetv2_100"]["abs_latency"].get<double>(), 21.21);
  EXPECT_DOUBLE_EQ(performance["mobilenetv2_100"]["dynamo_peak_mem"].get<double>(), 1.538);
  EXPECT_DOUBLE_EQ(performance["ghostnet_100"]["speedup"].get<double>(), 0);
  EXPECT_FALSE(performance["ghostnet_100"].contains("graph_breaks")) << "nothing was counted";
  const auto& accuracy = json["records"]["results_accuracy.json"];
  EXPECT_EQ(accuracy["mobilenetv2_100"]["accuracy"], "pass");
  EXPECT_EQ(accuracy["cannot,load"]["accuracy"], "eager_fail_to_run")
      << "upstream drops what failed to load";
  EXPECT_FALSE(accuracy.contains("visformer_small")) << "skipped models have no record";
}

TEST(UpstreamJson, ARecordHasUpstreamsShape) {
  const std::vector<store::ResultRow> rows = {Measured("m", 3, 2)};
  const std::string text = UpstreamJson(plan::Test::kPerformance, rows, {}, "x.csv");
  const auto record = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(record["benchmark"]["name"], "TorchInductor");
  EXPECT_EQ(record["benchmark"]["mode"], "inference");
  EXPECT_EQ(record["benchmark"]["dtype"], "bfloat16");
  EXPECT_EQ(record["benchmark"]["extra_info"]["device"], "cpu");
  EXPECT_EQ(record["benchmark"]["extra_info"]["output"], "x.csv");
  EXPECT_EQ(record["benchmark"]["extra_info"]["performance"], true);
  EXPECT_EQ(record["model"], nlohmann::json({{"name", "m"},
                                             {"type", "OSS model"},
                                             {"backend", "inductor"},
                                             {"origins", {"timm_models"}}}));
  EXPECT_EQ(record["metric"], nlohmann::json({{"name", "speedup"}, {"benchmark_values", {1.5}}}));
}

TEST(UpstreamFiles, NamesKeepTheirStem) {
  EXPECT_EQ(WithSuffix("results.csv", "_graph_breaks"), "results_graph_breaks.csv");
  EXPECT_EQ(WithSuffix("a.b/css.csv", "_x"), "a.b/css_x.csv");
  EXPECT_EQ(WithSuffix("a.b/plain", "_x"), "a.b/plain_x");
  EXPECT_EQ(WithSuffix(".hidden", "_x"), ".hidden_x");
}

TEST(UpstreamFiles, OneTestKeepsTheNameAndRowsWithoutOneAreLeftOut) {
  std::vector<store::ResultRow> rows = {Measured("m", 3, 2), Measured("n", 3, 2)};
  rows[0].experiment.output = "a.csv";
  const auto files = UpstreamFiles(rows, PlannedName, {}, {});
  EXPECT_THAT(files, ElementsAre(testing::Field(&UpstreamFile::name, "a.csv"),
                                 testing::Field(&UpstreamFile::name, "a.json")));
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("\ncpu,n,")));
}

TEST(UpstreamFiles, TheNamesOfUpstreamsCi) {
  store::ResultRow row = Measured("m", 3, 2);
  EXPECT_EQ(DashboardName(row),
            "inductor_no_cudagraphs_timm_models_bfloat16_inference_cpu_performance.csv");
  row.experiment.configuration = "aot_inductor";
  row.experiment.options.ahead_of_time = "aot_inductor";
  row.experiment.test = plan::Test::kAccuracy;
  row.experiment.environment = "nightly";
  EXPECT_EQ(DashboardName(row),
            "inductor_aot_inductor_nightly_timm_models_bfloat16_inference_cpu_accuracy.csv");
  row.experiment.configuration = "eager";
  row.experiment.options = {};
  row.experiment.options.backend = "eager";
  row.experiment.environment = "default";
  EXPECT_EQ(DashboardName(row), "eager_timm_models_bfloat16_inference_cpu_accuracy.csv");
}

TEST(UpstreamCsv, ToleranceAndBatchSizes) {
  store::ResultRow row = Done(Waiting("m", plan::Test::kTolerance), plan::Outcome::kPassed, "pass");
  row.result->metrics.tolerance_max = 0.5;
  row.result->metrics.tolerance_mean = 0.25;
  row.result->metrics.tolerance_std = 0.125;
  EXPECT_EQ(UpstreamCsv(plan::Test::kTolerance, {row}),
            "dev,name,batch_size,max,mean,std\ncpu,m,128,0.500000,0.250000,0.125000\n");
  row = Done(Waiting("m", plan::Test::kBatchSize), plan::Outcome::kPassed, "pass");
  EXPECT_EQ(UpstreamCsv(plan::Test::kBatchSize, {row}), "m,128\n");
}

TEST(UpstreamCsv, PrefillAndCacheLookupAreColumnsWhereTheyWereMeasured) {
  store::ResultRow row = Measured("m", 3, 2);
  EXPECT_THAT(UpstreamCsv(plan::Test::kPerformance, {row}), Not(HasSubstr("prefill")));
  row.result->metrics.eager_prefill_latency_ms = 12;
  row.result->metrics.input_tokens_per_second = 1000;
  row.experiment.measure_cache_lookup = true;
  row.result->metrics.cache_lookup_latency_s = 0.5;
  const std::string text = UpstreamCsv(plan::Test::kPerformance, {row});
  EXPECT_THAT(text, HasSubstr("dynamo_peak_mem,cache_lookup_latency,calls_captured"));
  EXPECT_THAT(text, HasSubstr("cudagraph_skips,eager_prefill_latency,input_tokens_per_second\n"));
  EXPECT_THAT(text, HasSubstr(",12.000000,1000.000000\n"));
}

TEST(ReadBaseline, ByTheHeadersNames) {
  const auto speedups = ReadBaseline("speedup,name,x\n1.5,a,1\n0.0,dead,1\n2,b,1\n1.75,a,2\n", "f");
  ASSERT_TRUE(speedups.ok()) << speedups.status();
  EXPECT_THAT(*speedups, ElementsAre(testing::Pair("a", 1.75), testing::Pair("b", 2.0)));
  EXPECT_THAT(std::string(ReadBaseline("dev,accuracy\n", "f.csv").status().message()),
              HasSubstr("f.csv: a baseline is a performance CSV"));
  EXPECT_THAT(std::string(ReadBaseline("name,speedup\n", "f.csv").status().message()),
              HasSubstr("holds no model"));
}

}  // namespace
}  // namespace dynbench::formats

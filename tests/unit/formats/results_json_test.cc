// Method: the keys that scripts rely on (fixed names), the sums, and that every number of a table
// is in the JSON of the same rows.
#include "common/formats/results_json.h"

#include "nlohmann/json.hpp"
#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;

TEST(ResultsJson, HasTheFixedNames) {
  const auto rows = EveryKindOfRow();
  const nlohmann::json json = ResultsJson(JobOf(rows), rows);
  EXPECT_EQ(json["schema"], "dynbench.results/1");
  EXPECT_EQ(json["job"]["id"], 12);
  EXPECT_EQ(json["job"]["state"], "running");
  EXPECT_EQ(json["job"]["finished_unix_ms"], nullptr);
  const nlohmann::json coverage = {{"planned", 10}, {"passed", 3}, {"failed", 2},
                                   {"skipped", 2},  {"lost", 1},   {"cancelled", 0},
                                   {"waiting", 1},  {"running", 1}};
  EXPECT_EQ(json["coverage"], coverage);
  ASSERT_EQ(json["results"].size(), 10u);

  const nlohmann::json& first = json["results"][0];
  EXPECT_EQ(first["experiment"]["model"], "mobilenetv2_100");
  EXPECT_EQ(first["experiment"]["precision"], "bfloat16");
  EXPECT_EQ(first["outcome"], "passed");
  EXPECT_EQ(first["status"], "measured");
  EXPECT_EQ(first["worker_host"], "alpha");
  EXPECT_EQ(first["attempt"], 1);
  EXPECT_EQ(first["series"].get<std::string>().size(), 16u);
  EXPECT_DOUBLE_EQ(first["metrics"]["speedup"], 30.12 / 21.21);
  EXPECT_DOUBLE_EQ(first["metrics"]["eager_latency_ms"], 30.12);
  EXPECT_DOUBLE_EQ(first["metrics"]["eager_spread"], 0.024);
  EXPECT_FALSE(first.contains("samples"));

  const nlohmann::json& crash = json["results"][4];
  EXPECT_EQ(crash["phase"], "compile");
  EXPECT_EQ(crash["blame"], "compiler");
  EXPECT_EQ(crash["error"], "killed by signal 11 (SIGSEGV)");
  const nlohmann::json& waiting = json["results"][5];
  EXPECT_EQ(waiting["state"], "waiting");
  EXPECT_EQ(waiting["outcome"], nullptr);
  EXPECT_EQ(waiting["metrics"], nlohmann::json::object());
  EXPECT_EQ(json["results"][8]["experiment"]["reason"],
            "takes longer than the time limit on aarch64 CPUs");
}

TEST(ResultsJson, CarriesSamplesWhenAsked) {
  store::ResultRow row = Measured("repvgg_a2", 2, 1);
  row.result->eager_ns = {2'000'000, 2'100'000};
  row.result->compiled_ns = {1'000'000, 1'000'001};
  const nlohmann::json json = ResultJson(row);
  EXPECT_EQ(json["samples"]["eager_ns"], nlohmann::json({2'000'000, 2'100'000}));
  EXPECT_EQ(json["samples"]["compiled_ns"][1], 1'000'001);
}

TEST(PlanJson, HasTheFixedNames) {
  plan::Plan plan;
  plan.experiments.push_back(Waiting("repvgg_a2", plan::Test::kAccuracy).experiment);
  plan.experiments.back().output = "x.csv";
  plan.experiments.push_back(Waiting("repvgg_a2", plan::Test::kPerformance).experiment);
  plan.experiments.back().planned_outcome = plan::Outcome::kSkipped;
  plan.experiments.back().reason = "why";
  plan.warnings = {"careful"};
  const nlohmann::json json = PlanJson(plan, std::nullopt, {"2 experiments can run on alpha"});
  EXPECT_EQ(json["schema"], "dynbench.plan/1");
  EXPECT_EQ(json["planned"], 2);
  EXPECT_EQ(json["skipped"], 1);
  EXPECT_EQ(json["expected_s"], nullptr);
  EXPECT_EQ(json["warnings"], nlohmann::json({"careful"}));
  const nlohmann::json& e = json["experiments"][0];
  for (const char* key :
       {"suite", "model", "mode", "test", "configuration", "precision", "device", "environment",
        "start", "batch_size", "partition", "output", "outcome", "reason"}) {
    EXPECT_TRUE(e.contains(key)) << key;
  }
  EXPECT_EQ(e["tolerance"], 1e-3);
  EXPECT_EQ(e["outcome"], nullptr);
  EXPECT_EQ(json["experiments"][1]["outcome"], "skipped");
  EXPECT_EQ(json["experiments"][1]["tolerance"], nullptr);
}

TEST(StatusJson, HasTheFixedNames) {
  const auto rows = EveryKindOfRow();
  const nlohmann::json json = StatusJson(
      {{JobOf(rows), 12.5, {"no worker has the environment \"nightly\""}}, {{}, {}, {}}});
  EXPECT_EQ(json["schema"], "dynbench.status/1");
  const nlohmann::json& job = json["jobs"][0];
  for (const char* key : {"id", "state", "planned", "passed", "failed", "skipped", "lost",
                          "cancelled", "running", "waiting", "eta_s"}) {
    EXPECT_TRUE(job.contains(key)) << key;
  }
  EXPECT_EQ(job["eta_s"], 12.5);
  EXPECT_EQ(job["waiting_reasons"].size(), 1u);
  EXPECT_EQ(json["jobs"][1]["eta_s"], nullptr);
}

TEST(JsonText, SurvivesBytesThatAreNoText) {
  store::ResultRow row = Waiting("repvgg_a2", plan::Test::kAccuracy);
  row = Failed(row, "fail_to_run", plan::Phase::kCompile, plan::Blame::kCompiler, "bad \xFF byte");
  EXPECT_THAT(JsonText(ResultJson(row)), HasSubstr("bad \xEF\xBF\xBD byte"));
  const std::string line = JsonLine(ResultJson(row));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace dynbench::formats

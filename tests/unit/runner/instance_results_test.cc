// Copies of an experiment joined into one row: the numbers are those of the survivors, and who died
// is told.
#include "worker/runner/instance_results.h"

#include <signal.h>

#include <stdexcept>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

using Json = nlohmann::json;

Instance Measured(std::vector<int> cores, double eager_ms, double ms) {
  const Json result = {{"type", "result"},
                       {"outcome", "passed"},
                       {"status", "measured"},
                       {"metrics",
                        {{"speedup", eager_ms / ms},
                         {"eager_latency_ms", eager_ms},
                         {"abs_latency_ms", ms},
                         {"compilation_latency_s", 1.0},
                         {"compile_synchronized_s", 1.0}}},
                       {"eager_ns", {eager_ms * 1e6}},
                       {"compiled_ns", {ms * 1e6}}};
  return {std::move(cores), result, 0};
}

TEST(InstanceResultsTest, CoresAreCutIntoDisjointRuns) {
  const std::vector<std::vector<int>> two = {{0, 1}, {2, 8}};
  EXPECT_EQ(SplitCores({0, 1, 2, 8, 9}, 2), two);
  EXPECT_THROW(SplitCores({0, 1}, 3), std::invalid_argument);
}

TEST(InstanceResultsTest, MediansOverInstancesAndSumsOfCalls) {
  const Json whole = JoinResults({Measured({0}, 4, 2), Measured({1}, 8, 4)}, /*iterations=*/1);
  EXPECT_EQ(whole.at("outcome"), "passed");
  EXPECT_EQ(whole.at("cores"), "0-1");
  EXPECT_DOUBLE_EQ(whole.at("metrics").at("abs_latency_ms"), 3);
  EXPECT_DOUBLE_EQ(whole.at("metrics").at("speedup"), 2);
  EXPECT_EQ(whole.at("compiled_ns").size(), 2u);
  const Json report = Json::parse(whole.at("compiler_report").get<std::string>());
  EXPECT_EQ(report.at("instances").size(), 2u);
  EXPECT_DOUBLE_EQ(report.at("instances_sum").at("compiled_calls_per_s"), 750);
  EXPECT_DOUBLE_EQ(report.at("instances_sum").at("eager_calls_per_s"), 375);
}

TEST(InstanceResultsTest, WhatIsWrongWithOneWindowIsWrongWithTheRow) {
  Instance first = Measured({0}, 4, 2), second = Measured({1}, 4, 2);
  first.result["metrics"].update({{"window_flags", 2},
                                  {"window_foreign_load", 0.01},
                                  {"window_repeats", 2},
                                  {"window_cpu_throttles", 3}});
  first.result["notes"] = Json::array({"window disturbed"});
  second.result["metrics"].update({{"window_flags", 1 | 16},
                                   {"window_foreign_load", 0.4},
                                   {"window_repeats", 1},
                                   {"window_cpu_throttles", 4},
                                   {"canary_spread", 0.1},
                                   {"eager_page_faults", 4'000}});
  second.result["notes"] = {"python took 40 %", "the host canary was not steady"};
  const Json whole = JoinResults({first, second}, 1);
  const Json& metrics = whole.at("metrics");
  EXPECT_EQ(metrics.at("window_flags"), 1 | 2 | 16);
  EXPECT_EQ(metrics.at("window_foreign_load"), 0.4);
  EXPECT_EQ(metrics.at("window_repeats"), 2);
  EXPECT_EQ(metrics.at("window_cpu_throttles"), 7);
  EXPECT_EQ(metrics.at("canary_spread"), 0.1);
  EXPECT_EQ(metrics.at("eager_page_faults"), 4'000);
  EXPECT_FALSE(metrics.contains("compiled_page_faults"));
  EXPECT_EQ(whole.at("notes"), Json({"instance 0: window disturbed", "instance 1: python took 40 %",
                                     "instance 1: the host canary was not steady"}));
  const Json report = Json::parse(whole.at("compiler_report").get<std::string>());
  EXPECT_EQ(report.at("instances").at(0).at("window_flags"), 2);
  EXPECT_EQ(report.at("instances").at(1).at("window_flags"), 17);
}

TEST(InstanceResultsTest, OneThatDiedIsToldAndTheOthersCount) {
  const Json whole = JoinResults({Measured({0}, 4, 2),
                                  Measured({1}, 4, 2),
                                  {{2}, Json(), SIGSEGV, "load"},
                                  Measured({3}, 4, 2)},
                                 2);
  EXPECT_EQ(whole.at("outcome"), "failed");
  EXPECT_EQ(whole.at("status"), "crash");
  EXPECT_EQ(whole.at("blame"), "model");
  EXPECT_EQ(whole.at("phase"), "load");
  EXPECT_EQ(whole.at("error"),
            "3 of 4 instances measured; instance 2 (cores 2) killed by signal 11");
  const Json report = Json::parse(whole.at("compiler_report").get<std::string>());
  EXPECT_EQ(report.at("instances").at(2).at("status"), "crash");
  EXPECT_DOUBLE_EQ(report.at("instances_sum").at("compiled_calls_per_s"), 3'000);
}

TEST(InstanceResultsTest, NoneLeft) {
  const Json whole =
      JoinResults({{{0}, Json(), SIGKILL, "load"}, {{1}, Json(), SIGKILL, "load"}}, 1);
  EXPECT_EQ(whole.at("outcome"), "failed");
  EXPECT_EQ(whole.at("error"),
            "0 of 2 instances measured; instance 0 (cores 0) killed by signal 9; instance 1 (cores "
            "1) killed by signal 9");
}

}  // namespace
}  // namespace dynbench::runner

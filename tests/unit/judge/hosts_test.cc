// Method: fleets of hosts with known slowness and seeded, heavy-tailed noise. A slow host must be
// named with its factor; of many fleets of equal hosts at most the stated share may name any.
#include "common/judge/hosts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/stats/random.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

struct Fleet {
  std::vector<double> slowness;  // of each host
  int series = 16;
  int nights = 1;       // processes of each series on each host
  double noise = 0.03;  // of a process
};

std::string HostName(size_t host) { return "bench-" + std::to_string(host + 1); }

// One process in ten is disturbed, up to twice as slow.
double NoiseOf(double noise, stats::Generator& generator) {
  const double tail = stats::Uniform(generator) < 0.1 ? 1 + stats::Uniform(generator) : 1;
  return std::exp(noise * stats::Normal(generator)) * tail;
}

store::History Measure(const Fleet& fleet, stats::Generator& generator) {
  store::History history;
  history.inventories["f"] = R"({"cpu_model":"EPYC"})";
  for (int series = 0; series < fleet.series; ++series) {
    for (size_t host = 0; host < fleet.slowness.size(); ++host) {
      for (int night = 0; night < fleet.nights; ++night) {
        const double slow = fleet.slowness[host];
        store::ResultRow row = Measured("model" + std::to_string(series), 20,
                                        10 * slow * NoiseOf(fleet.noise, generator))
                                   .row;
        row.worker_host = HostName(host);
        row.result->metrics.compilation_latency_s = 30 * slow * NoiseOf(fleet.noise, generator);
        history.rows.push_back({row, "f", "build"});
      }
    }
  }
  return history;
}

const HostReport& Find(const std::vector<HostReport>& reports, const std::string& host) {
  for (const HostReport& report : reports) {
    if (report.host == host) return report;
  }
  ADD_FAILURE() << "no " << host;
  return reports.front();
}

// The report: three workers, one of them twice as slow.
TEST(CompareHosts, NamesTheSlowHostWithItsFactor) {
  stats::Generator generator(1);
  const auto reports = CompareHosts(Measure({.slowness = {1, 1, 2}}, generator));
  ASSERT_EQ(reports.size(), 3U);
  const HostReport& slow = reports.front();
  EXPECT_EQ(slow.host, "bench-3") << "sick hosts come first";
  EXPECT_TRUE(slow.latency.slow);
  EXPECT_TRUE(slow.compile.slow);
  EXPECT_NEAR(*slow.latency.factor, 2, 0.2);
  EXPECT_EQ(slow.latency.series, 16U);
  EXPECT_EQ(slow.pool, 2U);
  EXPECT_EQ(slow.Text().substr(0, 10), "bench-3 is") << slow.Text();
  EXPECT_NE(slow.Text().find("x slower than its pool (latency "), std::string::npos);
  for (const char* host : {"bench-1", "bench-2"}) {
    EXPECT_FALSE(Find(reports, host).sick()) << host;
    EXPECT_EQ(Find(reports, host).Text(), "");
  }
}

TEST(CompareHosts, NoiseNamesNobody) {
  constexpr int kFleets = 400;
  const uint64_t seed = 20261130;
  stats::Generator generator(seed);
  int named = 0;
  for (int i = 0; i < kFleets; ++i) {
    Fleet fleet;
    fleet.slowness.assign(2 + i % 5, 1);
    fleet.series = 10 + i % 30;
    fleet.nights = 1 + i % 3;
    fleet.noise = i % 2 == 0 ? 0.03 : 0.3;
    for (const HostReport& report : CompareHosts(Measure(fleet, generator))) {
      named += report.sick() ? 1 : 0;
    }
  }
  EXPECT_LE(named, kFleets / 100) << "seed " << seed;
}

TEST(CompareHosts, AHostThatIsSlowIsFoundInNoise) {
  constexpr int kFleets = 100;
  stats::Generator generator(7);
  int found = 0;
  for (int i = 0; i < kFleets; ++i) {
    Fleet fleet;
    fleet.slowness = {1, 1, 1, 1.5};
    fleet.series = 30;
    found += Find(CompareHosts(Measure(fleet, generator)), "bench-4").latency.slow ? 1 : 0;
  }
  EXPECT_GE(found, 95);
}

// A machine that is five percent slower is another machine, not a sick one.
TEST(CompareHosts, ALittleSlowerIsNotSick) {
  stats::Generator generator(3);
  Fleet fleet;
  fleet.slowness = {1, 1, 1.05};
  fleet.series = 60;
  for (const auto& report : CompareHosts(Measure(fleet, generator))) EXPECT_FALSE(report.sick());
}

TEST(CompareHosts, TooFewSeriesJudgeNothing) {
  stats::Generator generator(4);
  Fleet fleet;
  fleet.slowness = {1, 1, 3};
  fleet.series = 5;
  const auto reports = CompareHosts(Measure(fleet, generator));
  const HostReport& report = Find(reports, "bench-3");
  EXPECT_FALSE(report.latency.interval.has_value());
  EXPECT_GT(report.latency.series_needed, 5U);
  EXPECT_NEAR(*report.latency.factor, 3, 1) << "the factor is shown all the same";
}

TEST(CompareHosts, OnlyTheSameThingIsCompared) {
  stats::Generator generator(5);
  const store::History history = Measure({.slowness = {1, 3}}, generator);
  const auto factor = [](const store::History& h) {
    return Find(CompareHosts(h), "bench-2").latency.series;
  };
  ASSERT_EQ(factor(history), 16U);
  for (const int what : {0, 1, 2, 3}) {
    store::History other = history;
    other.inventories["g"] = R"({"cpu_model":"Xeon"})";
    for (store::HistoryRow& row : other.rows) {
      if (row.row.worker_host != "bench-2") continue;
      if (what == 0) row.fingerprint = "g";
      if (what == 1) row.environment_hash = "another build";
      if (what == 2) row.row.result->threads = 4;
      if (what == 3) row.row.result->cores = "0-3";
    }
    EXPECT_EQ(factor(other), 0U) << what;
  }
}

TEST(CompareHosts, FailuresAgainstThePool) {
  stats::Generator generator(6);
  store::History history = Measure({.slowness = {1, 1, 1}}, generator);
  history.hosts = {{"bench-1", 400, 4}, {"bench-2", 380, 2}, {"bench-3", 390, 31}};
  auto reports = CompareHosts(history);
  EXPECT_EQ(reports.front().host, "bench-3");
  EXPECT_TRUE(reports.front().failing);
  EXPECT_EQ(reports.front().Text(),
            "bench-3 is failing more often than its pool (31 of 390 attempts, the others 6 of "
            "780)");
  EXPECT_FALSE(reports[1].failing || reports[2].failing);
  history.hosts = {{"bench-1", 40, 1}, {"bench-2", 38, 0}, {"bench-3", 39, 4}};
  for (const HostReport& report : CompareHosts(history)) {
    EXPECT_FALSE(report.failing) << "four failures are chance";
  }
}

// Warm compiling has another length each time.
TEST(CompareHosts, CompileSecondsAreOfColdStarts) {
  stats::Generator generator(8);
  store::History history = Measure({.slowness = {1, 2}}, generator);
  for (store::HistoryRow& row : history.rows) row.row.experiment.start = plan::Start::kWarm;
  EXPECT_EQ(Find(CompareHosts(history), "bench-2").compile.series, 0U);
}

}  // namespace
}  // namespace dynbench::judge

// Method: whole nights of 100 models whose samples are drawn from those of real, identical
// processes (aa_samples.csv: heavy tails, drift, steps), with a random bias for each process; seeds
// are fixed and printed. Nights without a change must stay silent, a slowdown that is put in must
// be found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/judge/verdict.h"
#include "common/stats/random.h"
#include "common/stats/stats.h"
#include "tests/unit/judge/real_samples_testing.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using stats::Generator;

constexpr int kModels = 100;

struct Night {
  int processes = 5;        // a side
  double bias = 0.02;       // standard deviation of a random bias of each process
  bool real_bias = false;   // instead: the real processes' own
  double sample_noise = 0;  // > 0: samples are scaled to this robust standard deviation
  double slowdown = 0;      // of the compiled side of model 0 in new
  double everywhere = 0;    // of both sides of every model in new
  double of_compiling = 0;  // noise of the compile seconds; 0: twice the bias
};

Process Draw(const Night& night, const std::vector<RealProcess>& real, const std::string& model,
             double both, double slowdown, Generator& generator) {
  const RealProcess& from = real[stats::UniformIndex(generator, real.size())];
  const RealProcess& biased = real[stats::UniformIndex(generator, real.size())];
  // A slow process is slow on both sides, and a little more on one of them.
  const double common =
      night.real_bias ? biased.eager_offset : night.bias * stats::Normal(generator);
  const double own =
      night.real_bias ? biased.compiled_offset : common + night.bias / 4 * stats::Normal(generator);
  double eager_spread = 0, compiled_spread = 0;
  const auto median = [&](const Samples& pool, double centre_ms, double bias, double* spread) {
    const Samples samples = Resample(pool, 30, centre_ms, bias, night.sample_noise, generator);
    *spread = stats::Spread(samples);
    return stats::Median(samples);
  };
  const double eager = median(from.eager, 20 * (1 + both), common, &eager_spread);
  const double compiled =
      median(from.compiled, 10 * (1 + both) * (1 + slowdown), own, &compiled_spread);
  Process process = Measured(model, eager, compiled);
  plan::Metrics& metrics = process.row.result->metrics;
  metrics.eager_spread = eager_spread;
  metrics.compiled_spread = compiled_spread;
  const double of_compiling = night.of_compiling > 0 ? night.of_compiling : 2 * night.bias;
  metrics.compilation_latency_s = 20 * std::exp(of_compiling * stats::Normal(generator));
  metrics.compiled_peak_memory_bytes = 6e8 * std::exp(0.002 * stats::Normal(generator));
  return process;
}

struct Outcome {
  int alarms = 0;      // verdicts that say "moved", but for the model that did
  bool found = false;  // model 0's compiled latency regressed
  int unknown = 0, same = 0;
};

Outcome RunNight(const Night& night, const std::vector<RealProcess>& real, uint64_t seed) {
  Generator generator(seed);
  Side base, fresh;
  for (int m = 0; m < kModels; ++m) {
    const std::string model = "m" + std::to_string(m);
    for (int k = 0; k < night.processes; ++k) {
      base.processes.push_back(Draw(night, real, model, 0, 0, generator));
      fresh.processes.push_back(
          Draw(night, real, model, night.everywhere, m == 0 ? night.slowdown : 0, generator));
    }
  }
  fresh.processes = OnNewBuild(std::move(fresh.processes));
  Outcome outcome;
  for (const Judgement& j : Judge(PairUp(base, fresh), {}, {})) {
    const bool moved = j.verdict == Verdict::kRegressed || j.verdict == Verdict::kImproved;
    if (j.pair == 0 && night.slowdown > 0) {
      outcome.found |= j.metric == Metric::kCompiledLatency && j.verdict == Verdict::kRegressed;
    } else {
      outcome.alarms += moved ? 1 : 0;
    }
    outcome.unknown += j.verdict == Verdict::kUnknown ? 1 : 0;
    outcome.same += j.verdict == Verdict::kSame ? 1 : 0;
  }
  return outcome;
}

int AlarmsInNights(const Night& night, int nights, uint64_t seed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  nights /= 10;  // where it is about memory and not about rates
#endif
  const auto real = LoadRealProcesses();
  int alarms = 0, unknown = 0, same = 0;
  for (int i = 0; i < nights; ++i) {
    const Outcome outcome = RunNight(night, real, seed + static_cast<uint64_t>(i));
    alarms += outcome.alarms;
    unknown += outcome.unknown;
    same += outcome.same;
  }
  std::cout << "seeds " << seed << " to " << seed + nights - 1 << ": " << alarms << " alarms, "
            << unknown << " unknown, " << same << " same\n";
  return alarms;
}

TEST(Nights, TwentyWithoutAChangeAndABiasOfTwoPercent) {
  for (const int processes : {3, 5}) {
    Night night;
    night.processes = processes;
    EXPECT_LE(AlarmsInNights(night, 20, 100), 1) << processes << " processes a side";
  }
}

TEST(Nights, TwentyWithTheRealProcessesOwnBias) {
  Night night;
  night.real_bias = true;
  EXPECT_LE(AlarmsInNights(night, 20, 300), 1);
}

// Two hundred changes that are certain and too small to be told must not make the unchanged compile
// seconds easier to call changed: told, they were in a third of such nights.
TEST(Nights, TwentyInWhichEverythingIsHalfAPercentSlower) {
  Night night;
  night.bias = 0.001;
  night.sample_noise = 0.002;
  night.everywhere = 0.005;
  night.of_compiling = 0.03;
  EXPECT_LE(AlarmsInNights(night, 20, 700), 1);
}

TEST(Nights, OneProcessASideNeverAlarmsOnATwoPercentBias) {
  Night night;
  night.processes = 1;
  EXPECT_EQ(AlarmsInNights(night, 20, 500), 0);
}

// Every pair of real, identical processes of one model, as they were: the bound for one process.
TEST(Nights, RealPairsOfOneProcess) {
  const auto real = LoadRealProcesses();
  int pairs = 0, alarms = 0;
  constexpr size_t kOfModel = 20;
  for (size_t i = 0; i < real.size(); ++i) {
    for (size_t j = i + 1; j < real.size() && j / kOfModel == i / kOfModel; ++j) {
      Side sides[2];
      for (const size_t side : {0U, 1U}) {
        const RealProcess& p = real[side == 0 ? i : j];
        Samples eager, compiled;
        for (const double log : p.eager) eager.push_back(20 * std::exp(p.eager_offset + log));
        for (const double log : p.compiled) {
          compiled.push_back(10 * std::exp(p.compiled_offset + log));
        }
        Process process = Measured("m", stats::Median(eager), stats::Median(compiled));
        process.row.result->metrics.eager_spread = stats::Spread(eager);
        process.row.result->metrics.compiled_spread = stats::Spread(compiled);
        sides[side].processes.push_back(process);
      }
      const auto judgements = Judge(PairUp(sides[0], sides[1]), {}, {});
      ++pairs;
      alarms += std::any_of(judgements.begin(), judgements.end(), [](const Judgement& judgement) {
        return judgement.verdict == Verdict::kRegressed || judgement.verdict == Verdict::kImproved;
      });
    }
  }
  std::cout << alarms << " of " << pairs << " pairs\n";
  EXPECT_EQ(pairs, 4 * 190);
  EXPECT_EQ(alarms, 0) << "though they differ up to ninefold";
}

TEST(Nights, TwoPercentSlowerAtHalfAPercentOfNoiseIsFound) {
  const auto real = LoadRealProcesses();
  Night night;
  night.processes = 7;
  night.bias = 0.005;
  night.sample_noise = 0.005;
  night.slowdown = 0.02;
  int found = 0, alarms = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Outcome outcome = RunNight(night, real, seed);
    found += outcome.found ? 1 : 0;
    alarms += outcome.alarms;
  }
  std::cout << "seeds 1 to 100: found in " << found << ", other alarms " << alarms << "\n";
  EXPECT_GE(found, 95);
  EXPECT_LE(alarms, 5) << "in 100 nights";
}

}  // namespace
}  // namespace dynbench::judge

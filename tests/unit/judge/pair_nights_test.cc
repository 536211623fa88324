// Method: whole nights of pair jobs of up to 100 models. The samples of each round are drawn from
// those of real, identical processes (aa_samples.csv) with a random bias for each process, in six
// blocks of either side in turn on a host that flips its pace, and are decided, stopped and
// compared as the coordinator and `compare JOB` do it. Seeds are fixed and printed. Nights without
// a change must stay silent, a slowdown that is put in must be found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/base/pair_blocks.h"
#include "common/judge/compare.h"
#include "common/judge/pair_decision.h"
#include "common/stats/sequential.h"
#include "tests/unit/judge/real_samples_testing.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using stats::Generator;

constexpr int kBlocks = 6;  // of a round's side, five samples each: as a worker takes them
constexpr int kSamplesOfBlock = 5;
// The host is this much slower for one block in four, of either side alike but for one block in
// fifty.
constexpr double kFlip = 0.4;
constexpr double kFlips = 0.25;
constexpr double kFlipsAlone = 0.02;

struct Night {
  int models = 100;
  double bias = 0.02;       // standard deviation of a random bias of each process
  double sample_noise = 0;  // > 0: samples are scaled to this robust standard deviation
  double slowdown = 0;      // of the compiled side of model 0 in new
  bool flips = true;
};

// What the host does while a block is taken, on the scale of logarithms.
using Pace = std::vector<double>;

Pace PaceOfRound(const Night& night, Generator& generator) {
  Pace pace;
  for (int i = 0; i < kBlocks; ++i) {
    pace.push_back(night.flips && stats::Uniform(generator) < kFlips ? kFlip : 0);
  }
  return pace;
}

plan::Result Measure(const Night& night, const std::vector<RealProcess>& real, const Pace& pace,
                     double slowdown, Generator& generator) {
  const RealProcess& from = real[stats::UniformIndex(generator, real.size())];
  const double common = night.bias * stats::Normal(generator);
  const double own = common + night.bias / 4 * stats::Normal(generator);
  Samples eager, compiled;
  std::vector<double> eager_ns, compiled_ns;
  const auto take = [&](const Samples& pool, double centre_ms, double bias, Samples* all) {
    const Samples block =
        Resample(pool, kSamplesOfBlock, centre_ms, bias, night.sample_noise, generator);
    all->insert(all->end(), block.begin(), block.end());
    return stats::Median(block) * 1e6;
  };
  for (const double shared : pace) {
    const bool alone = night.flips && stats::Uniform(generator) < kFlipsAlone;
    const double here = shared + (alone ? kFlip : 0);
    eager_ns.push_back(take(from.eager, 20, common + here, &eager));
    compiled_ns.push_back(take(from.compiled, 10 * (1 + slowdown), own + here, &compiled));
  }
  plan::Result result = *Measured("m", stats::Median(eager), stats::Median(compiled)).row.result;
  result.metrics.eager_spread = stats::Spread(eager);
  result.metrics.compiled_spread = stats::Spread(compiled);
  result.metrics.compilation_latency_s = 20 * std::exp(2 * night.bias * stats::Normal(generator));
  result.metrics.compiled_peak_memory_bytes = 6e8 * std::exp(0.002 * stats::Normal(generator));
  result.in_force[kWindowBlocks] = std::to_string(kBlocks);
  result.in_force[kEagerBlocks] = BlockMediansText(eager_ns);
  result.in_force[kCompiledBlocks] = BlockMediansText(compiled_ns);
  return result;
}

struct Pairs {
  explicit Pairs(int models) : figures(models) {}

  Side base, fresh;
  std::vector<std::vector<RoundFigures>> figures;
  size_t rounds = 0;

  void AddRound(int model, const plan::Result& of_base, const plan::Result& of_fresh) {
    const int round = static_cast<int>(figures[model].size()) + 1;
    for (const bool is_new : {false, true}) {
      Process process = Measured("m" + std::to_string(model), 1, 1);
      process.row.result = is_new ? of_fresh : of_base;
      process.row.id =
          ExperimentId(1000 * int64_t{model + 1} + 2 * int64_t{round} + (is_new ? 1 : 0));
      process.row.lease = LeaseEpoch(1000 * int64_t{model + 1} + round);
      process.row.experiment.pair = model + 1;
      process.row.experiment.round = round;
      process.row.experiment.side = is_new ? "new" : "base";
      (is_new ? fresh : base).processes.push_back(std::move(process));
    }
    figures[model].push_back(FiguresOf(of_base, of_fresh));
    ++rounds;
  }

  stats::VariancePrior Noise(const stats::VariancePrior& otherwise) const {
    std::vector<std::vector<double>> changes(figures.size());
    for (size_t m = 0; m < figures.size(); ++m) {
      for (const RoundFigures& round : figures[m]) changes[m].push_back(round.change.value());
    }
    return NoiseOfPairs(changes, otherwise);
  }
};

struct Outcome {
  int alarms = 0;             // verdicts that say "moved", but for the model that did
  int decided = 0;            // pairs that were ended as changed, but for that model
  bool found = false;         // model 0's compiled latency regressed
  int same = 0, unknown = 0;  // of compiled latencies
  size_t rounds = 0;
};

// All pairs have a round, then those that are not decided another.
Pairs MeasureNight(const Night& night, const std::vector<RealProcess>& real, uint64_t seed,
                   Outcome* outcome) {
  Generator generator(seed);
  Pairs pairs(night.models);
  PairRules rules = RulesFor(static_cast<size_t>(night.models), 3, 12);
  std::vector<bool> open(static_cast<size_t>(night.models), true);
  for (size_t round = 0; round < rules.rounds_max; ++round) {
    for (int m = 0; m < night.models; ++m) {
      if (!open[m]) continue;
      const Pace pace = PaceOfRound(night, generator);
      const plan::Result base = Measure(night, real, pace, 0, generator);
      pairs.AddRound(m, base, Measure(night, real, pace, m == 0 ? night.slowdown : 0, generator));
    }
    rules.noise = pairs.Noise(PairRules().noise);
    for (int m = 0; m < night.models; ++m) {
      if (!open[m]) continue;
      const PairStep step = DecidePair(rules, pairs.figures[m], true);
      open[m] = !step.stop();
      const bool changed = m == 0 && night.slowdown > 0;
      outcome->decided += step.verdict == PairVerdict::kChanged && !changed ? 1 : 0;
    }
  }
  return pairs;
}

Outcome RunNight(const Night& night, const std::vector<RealProcess>& real, uint64_t seed) {
  Outcome outcome;
  Pairs pairs = MeasureNight(night, real, seed, &outcome);
  outcome.rounds = pairs.rounds;
  pairs.fresh.processes = OnNewBuild(std::move(pairs.fresh.processes));
  const Comparison comparison = ComparePairs(pairs.base, pairs.fresh, {});
  for (const Judgement& j : comparison.judgements) {
    const bool moved = j.verdict == Verdict::kRegressed || j.verdict == Verdict::kImproved;
    const bool compiled = j.metric == Metric::kCompiledLatency;
    if (j.pair == 0 && night.slowdown > 0) {
      outcome.found |= compiled && j.verdict == Verdict::kRegressed;
    } else {
      outcome.alarms += moved ? 1 : 0;
    }
    outcome.same += compiled && j.verdict == Verdict::kSame ? 1 : 0;
    outcome.unknown += compiled && j.verdict == Verdict::kUnknown ? 1 : 0;
  }
  return outcome;
}

struct Total {
  int nights = 0;
  int alarms = 0, decided = 0, found = 0, same = 0, unknown = 0;
  double rounds_of_a_pair = 0;
};

Total RunNights(const Night& night, int nights, uint64_t seed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  nights = (nights + 19) / 20;  // where it is about memory and not about rates
#endif
  const auto real = LoadRealProcesses();
  Total total;
  total.nights = nights;
  for (int i = 0; i < nights; ++i) {
    const Outcome outcome = RunNight(night, real, seed + static_cast<uint64_t>(i));
    total.alarms += outcome.alarms;
    total.decided += outcome.decided;
    total.found += outcome.found ? 1 : 0;
    total.same += outcome.same;
    total.unknown += outcome.unknown;
    total.rounds_of_a_pair += static_cast<double>(outcome.rounds) / night.models / nights;
  }
  std::cout << nights << " nights, seeds from " << seed << ": " << total.alarms << " alarms, "
            << total.decided << " pairs ended as changed, compiled latency " << total.same
            << " same and " << total.unknown << " unknown, found in " << total.found << ", "
            << total.rounds_of_a_pair << " rounds a pair\n";
  return total;
}

TEST(PairNights, TwentyWithoutAChange) {
  const Total total = RunNights({}, 20, 100);
  EXPECT_LE(total.alarms, 1);
  EXPECT_LE(total.decided, 1);
}

TEST(PairNights, TwentyWithoutAChangeOnAQuietHostAreSame) {
  Night night;
  night.bias = 0.005;
  night.sample_noise = 0.005;
  night.flips = false;
  const Total total = RunNights(night, 20, 200);
  EXPECT_LE(total.alarms, 1);
  EXPECT_LE(total.decided, 1);
  EXPECT_EQ(total.unknown, 0);
  EXPECT_LE(total.rounds_of_a_pair, 6);
}

TEST(PairNights, TwoPercentSlowerAtHalfAPercentOfNoiseIsFound) {
  Night night;
  night.bias = 0.005;
  night.sample_noise = 0.005;
  night.slowdown = 0.02;
  night.flips = false;
  night.models = 25;
  const Total total = RunNights(night, 100, 1);
  EXPECT_GE(total.found, 0.95 * total.nights);
  EXPECT_LE(total.alarms, 0.05 * total.nights);
}

}  // namespace
}  // namespace dynbench::judge

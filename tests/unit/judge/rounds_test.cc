// Method: rounds of two made results each, disturbed one way at a time.
#include "common/judge/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/pair_blocks.h"
#include "common/base/window_flags.h"
#include "common/judge/compare.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using testing::HasSubstr;

RoundJudgement Judge(const plan::Result& base, const plan::Result& fresh, int64_t base_lease = 7,
                     int64_t fresh_lease = 7) {
  return JudgeRound({&base, LeaseEpoch(base_lease)}, {&fresh, LeaseEpoch(fresh_lease)});
}

TEST(Rounds, ARoundCountsWhenBothSidesEndedUnderOneLease) {
  const plan::Result good = *Measured("m", 20, 10).row.result;
  EXPECT_EQ(Judge(good, good).state, RoundState::kCounts);
  plan::Result failed = good;
  failed.outcome = plan::Outcome::kFailed;
  EXPECT_EQ(Judge(good, failed).state, RoundState::kCounts) << "a failed model is data";
  EXPECT_EQ(JudgeRound({&good, LeaseEpoch(7)}, {}).state, RoundState::kOpen);
}

TEST(Rounds, WhatCameBetweenMakesItCountForNothing) {
  const plan::Result good = *Measured("m", 20, 10).row.result;
  plan::Result lost = good;
  lost.outcome = plan::Outcome::kLost;
  lost.error = "device gone";
  EXPECT_THAT(Judge(good, lost).reason, HasSubstr("new: lost: device gone"));
  EXPECT_EQ(Judge(good, good, 7, 8).state, RoundState::kDisturbed);
  plan::Result host = good;
  host.outcome = plan::Outcome::kFailed;
  host.blame = plan::Blame::kInfrastructure;
  EXPECT_EQ(Judge(host, good).state, RoundState::kDisturbed);
  plan::Result window = good;
  window.metrics.window_flags = kForeignLoad | kHostCanaryMoved | kDeviceThrottled;
  EXPECT_EQ(Judge(window, good).state, RoundState::kCounts) << "its figures and spread tell of it";
  window.metrics.window_flags = kForeignLoad | kUnfrozenLane;
  EXPECT_EQ(Judge(window, good).state, RoundState::kDisturbed);
  EXPECT_EQ(Judge(good, window).reason, "new: in its window another lane ran on");
  window.metrics.window_flags = kForeignOnDevice;
  EXPECT_EQ(Judge(window, good).reason,
            "base: in its window a process of others was on the device");
  plan::Result skipped = good;
  skipped.outcome = plan::Outcome::kSkipped;
  EXPECT_EQ(Judge(good, skipped, 7, 0).state, RoundState::kDisturbed);
  EXPECT_EQ(Judge(skipped, skipped, 0, 0).state, RoundState::kNotNeeded);
}

// A pair of `changes.size()` rounds in which the host's own speed differs by up to a factor of two.
void AddPair(int pair, const std::vector<double>& changes, Side* base, Side* fresh) {
  for (size_t i = 0; i < changes.size(); ++i) {
    const double host = 1 + static_cast<double>(i * 7 % 5) / 4;
    const std::string model = "m" + std::to_string(pair);
    for (const bool is_new : {false, true}) {
      const double ms = 10 * host * (is_new ? 1 + changes[i] : 1);
      Process process = Measured(model, 20 * host, ms);
      process.row.id =
          ExperimentId(int64_t{pair} * 1000 + static_cast<int64_t>(i) * 2 + (is_new ? 1 : 0));
      process.row.lease = LeaseEpoch(int64_t{pair} * 100 + static_cast<int64_t>(i));
      process.row.experiment.pair = pair;
      process.row.experiment.round = static_cast<int>(i) + 1;
      process.row.experiment.side = is_new ? "new" : "base";
      (is_new ? fresh : base)->processes.push_back(process);
    }
  }
}

Verdict CompiledVerdict(const Comparison& comparison, size_t pair) {
  for (const Judgement& j : comparison.judgements) {
    if (j.pair == pair && j.metric == Metric::kCompiledLatency) return j.verdict;
  }
  return Verdict::kIncomparable;
}

TEST(Rounds, DifferencesWithinRoundsAreComparedAndNotWhatTheHostDidBetweenThem) {
  Side base, fresh;
  for (int pair = 1; pair <= 6; ++pair) {
    const double change = pair == 1 ? 0.05 : 0;
    AddPair(pair, {change + 0.001, change - 0.002, change + 0.001, change + 0.002, change - 0.001},
            &base, &fresh);
  }
  fresh.processes = OnNewBuild(fresh.processes);
  const Comparison comparison = ComparePairs(base, fresh, {});
  ASSERT_EQ(comparison.pairing.pairs.size(), 6U);
  EXPECT_EQ(CompiledVerdict(comparison, 0), Verdict::kRegressed);
  for (size_t pair = 1; pair < 6; ++pair) {
    EXPECT_EQ(CompiledVerdict(comparison, pair), Verdict::kSame) << pair;
  }
  EXPECT_EQ(comparison.gate, Gate::kRegression);
  EXPECT_EQ(comparison.judgements[0].base_processes, 5U);
}

// A row of which the blocks have these medians; its values are those of block `shown`.
plan::Result InBlocks(const std::vector<double>& eager_ms, const std::vector<double>& compiled_ms,
                      size_t shown = 0) {
  plan::Result result = *Measured("m", eager_ms.at(shown), compiled_ms.at(shown)).row.result;
  std::vector<double> eager_ns, compiled_ns;
  for (const double ms : eager_ms) eager_ns.push_back(ms * 1e6);
  for (const double ms : compiled_ms) compiled_ns.push_back(ms * 1e6);
  result.in_force[kWindowBlocks] = std::to_string(eager_ms.size());
  result.in_force[kEagerBlocks] = BlockMediansText(eager_ns);
  result.in_force[kCompiledBlocks] = BlockMediansText(compiled_ns);
  return result;
}

TEST(Rounds, WhereTheSidesAlternatedTheirBlocksAreComparedAndThePaceCancels) {
  // The host is twice as slow in the last blocks of both; base's own median is of a quick one.
  const plan::Result base = InBlocks({20, 20, 40, 40}, {10, 10, 20, 20}, 0);
  const plan::Result fresh = InBlocks({20, 20, 40, 40}, {10.1, 10.1, 20.2, 20.2}, 3);
  const auto compiled = DifferenceOf(Metric::kCompiledLatency, base, fresh);
  ASSERT_TRUE(compiled.has_value());
  EXPECT_NEAR(compiled->change, std::log(1.01), 1e-6);
  EXPECT_NEAR(compiled->fresh - compiled->base, compiled->change, 1e-12);
  EXPECT_NEAR(compiled->base + compiled->fresh, std::log(10) + std::log(20.2), 1e-6);
  EXPECT_NEAR(compiled->sampling_variance.value(), 0, 1e-9);
  EXPECT_NEAR(DifferenceOf(Metric::kEagerLatency, base, fresh)->change, 0, 1e-9);
  EXPECT_NEAR(DifferenceOf(Metric::kSpeedup, base, fresh)->change, -std::log(1.01), 1e-6);
  EXPECT_NEAR(FiguresOf(base, fresh).change.value(), std::log(1.01), 1e-6)
      << "what the coordinator stops by is what compare says";
}

TEST(Rounds, OneBlockMoreOnOneSideOrNoneAndTheValuesAreComparedAsEver) {
  const plan::Result base = InBlocks({20, 20}, {10, 10});
  for (const plan::Result& fresh :
       {InBlocks({20, 20, 20}, {11, 30, 30}), *Measured("m", 20, 11).row.result}) {
    const auto difference = DifferenceOf(Metric::kCompiledLatency, base, fresh);
    EXPECT_NEAR(difference->change, std::log(1.1), 1e-9);
    EXPECT_FALSE(difference->sampling_variance.has_value());
  }
  plan::Result garbled = base;
  garbled.in_force[kCompiledBlocks] = "10000000,x";
  EXPECT_FALSE(
      DifferenceOf(Metric::kCompiledLatency, base, garbled)->sampling_variance.has_value());
  const auto seconds = DifferenceOf(Metric::kCompileSeconds, base, base);
  EXPECT_FALSE(seconds.has_value()) << "no figure";
}

TEST(Rounds, IdenticalBuildsOnAHostThatFlipsItsPaceAreSameWithBlocksAndUnknownWithout) {
  for (const bool blocks : {true, false}) {
    Side base, fresh;
    AddPair(1, {0, 0, 0, 0, 0}, &base, &fresh);
    for (size_t i = 0; i < 5; ++i) {
      const double flip = i % 2 == 0 ? 1.3 : 1;  // of what the medians of whole processes are
      for (Side* side : {&base, &fresh}) {
        plan::Result& result = *side->processes[i].row.result;
        const double own = side == &fresh ? 1.001 + 0.001 * static_cast<double>(i % 3) : 1;
        const plan::Result taken =
            InBlocks({20, 40, 40, 20}, {10 * own, 20 * own, 20 * own, 10 * own});
        result.metrics.abs_latency_ms = 10 * (side == &fresh ? flip : 1);
        result.metrics.compiled_spread = 0.6;
        if (blocks) result.in_force = taken.in_force;
      }
    }
    fresh.processes = OnNewBuild(fresh.processes);
    EXPECT_EQ(CompiledVerdict(ComparePairs(base, fresh, {}), 0),
              blocks ? Verdict::kSame : Verdict::kUnknown);
  }
}

// The round in which new's process took its worker down for good: the scheduler ends both sides.
void Kill(size_t round, Side* killer, Side* other) {
  plan::Result& crash = *killer->processes[round].row.result;
  crash.outcome = plan::Outcome::kFailed;
  crash.status = "crash";
  crash.blame = plan::Blame::kModel;
  crash.error = "its worker died 3 times while it ran";
  plan::Result& skipped = *other->processes[round].row.result;
  skipped.outcome = plan::Outcome::kSkipped;
  skipped.status = "skipped";
  skipped.error = "the other side of its round is a failure: its worker died with it";
  for (Side* side : {killer, other}) {
    side->processes[round].row.lease = LeaseEpoch();
    side->processes[round].row.result->metrics = {};
    side->processes.resize(round + 1);
  }
}

const Judgement& StatusOf(const Comparison& comparison, size_t pair) {
  for (const Judgement& j : comparison.judgements) {
    if (j.pair == pair && j.metric == Metric::kStatus) return j;
  }
  ADD_FAILURE() << "no status of pair " << pair;
  return comparison.judgements.front();
}

TEST(Rounds, AModelThatTakesItsWorkerDownIsAFindingAndNoSuccess) {
  for (const size_t round : {0U, 1U}) {
    Side base, fresh;
    for (int pair = 1; pair <= 6; ++pair) AddPair(pair, {0, 0.001, 0, -0.001}, &base, &fresh);
    EXPECT_EQ(ComparePairs(base, fresh, {}).gate, Gate::kHolds);
    AddPair(7, {0, 0, 0}, &base, &fresh);
    const size_t first = base.processes.size() - 3;
    Kill(first + round, &fresh, &base);
    const Comparison comparison = ComparePairs(base, fresh, {});
    ASSERT_EQ(comparison.pairing.pairs.size(), 7U);
    const Judgement& status = StatusOf(comparison, 6);
    EXPECT_EQ(status.verdict, Verdict::kUnknown) << status.reason;
    EXPECT_EQ(status.base_status, round == 0 ? "not measured" : "measured");
    EXPECT_THAT(status.fresh_status, HasSubstr("crash"));
    EXPECT_EQ(comparison.gate, Gate::kNotEnough);
    EXPECT_EQ(comparison.gate_reason, "no verdict of 1 experiment that new was to run: timm/m7");
    ASSERT_FALSE(comparison.findings.empty());
    EXPECT_EQ(&comparison.judgements[comparison.findings[0].judgement], &status);
    for (const SummaryCell& cell : comparison.summary) {
      EXPECT_THAT(cell.left_out, testing::Contains("m7 (a side takes its worker down)"));
    }
  }
}

TEST(Rounds, ABaseThatTakesItsWorkerDownIsAFindingAlone) {
  Side base, fresh;
  for (int pair = 1; pair <= 6; ++pair) AddPair(pair, {0, 0.001, 0, -0.001}, &base, &fresh);
  AddPair(7, {0}, &base, &fresh);
  Kill(base.processes.size() - 1, &base, &fresh);
  const Comparison comparison = ComparePairs(base, fresh, {});
  EXPECT_EQ(StatusOf(comparison, 6).verdict, Verdict::kUnknown);
  EXPECT_THAT(StatusOf(comparison, 6).reason, HasSubstr("base: its worker died 3 times"));
  EXPECT_EQ(comparison.gate, Gate::kHolds) << "new has broken nothing: " << comparison.gate_reason;
}

TEST(Rounds, APairOfWhichNoRoundCountsIsNoSuccessUnlessItWasLeftOutOnPurpose) {
  using plan::Outcome;
  for (const Outcome outcome : {Outcome::kLost, Outcome::kCancelled, Outcome::kSkipped}) {
    Side base, fresh;
    for (int pair = 1; pair <= 6; ++pair) AddPair(pair, {0, 0.001, 0, -0.001}, &base, &fresh);
    AddPair(7, {0}, &base, &fresh);
    for (Side* side : {&base, &fresh}) {
      side->processes.back().row.lease = LeaseEpoch();
      side->processes.back().row.result->outcome = outcome;
    }
    const Comparison comparison = ComparePairs(base, fresh, {});
    ASSERT_EQ(comparison.pairing.left_out.size(), 1U);
    EXPECT_EQ(comparison.gate, outcome == Outcome::kSkipped ? Gate::kHolds : Gate::kNotEnough)
        << plan::ToString(outcome) << ": " << comparison.gate_reason;
  }
}

TEST(Rounds, ADisturbedRoundAndOneThatWasNotNeededAreInNoFigure) {
  Side base, fresh;
  AddPair(1, {0, 0.001, 0, 9, 0}, &base, &fresh);
  fresh.processes[3].row.lease = LeaseEpoch(9999);
  for (Side* side : {&base, &fresh}) {
    plan::Result& skipped = *side->processes[4].row.result;
    skipped.outcome = plan::Outcome::kSkipped;
    skipped.error = "pair decided after 3 rounds: same";
    side->processes[4].row.lease = LeaseEpoch();
  }
  const Comparison comparison = ComparePairs(base, fresh, {});
  const Pair& pair = comparison.pairing.pairs.at(0);
  EXPECT_EQ(pair.base.size(), 3U);
  EXPECT_EQ(pair.rounds.size(), 4U);
  EXPECT_EQ(pair.ended, "pair decided after 3 rounds: same");
  EXPECT_THAT(comparison.notes, testing::Contains(HasSubstr("1 of 4 rounds were disturbed")));
}

}  // namespace
}  // namespace dynbench::judge

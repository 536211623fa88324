// Method: runs whose first line matters (200 tiny changes and one huge one, a user's report), every
// state of the gate, and the notes that explain a whole run.
#include "common/judge/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/base/window_flags.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using testing::Contains;
using testing::HasSubstr;

void Add(Side* side, const std::string& model, double eager_ms, double compiled_ms) {
  for (const double factor : {0.999, 1.0, 1.001}) {
    side->processes.push_back(Measured(model, eager_ms * factor, compiled_ms / factor));
  }
}

TEST(Compare, TheHugeChangeIsLineOne) {
  Side base{"b", {}}, fresh{"n", {}};
  for (int i = 0; i < 200; ++i) {
    const std::string model = "m" + std::to_string(i);
    Add(&base, model, 20, 10);
    Add(&fresh, model, 20, i == 150 ? 40 : 10.3);
  }
  fresh.processes = OnNewBuild(std::move(fresh.processes));
  const Comparison comparison = Compare(base, fresh, {}, {});
  ASSERT_GT(comparison.findings.size(), 200U);
  const Judgement& first = comparison.judgements[comparison.findings[0].judgement];
  EXPECT_EQ(comparison.pairing.pairs[first.pair].experiment.model, "m150");
  EXPECT_EQ(comparison.findings[0].level, Level::kRed);
  EXPECT_EQ(comparison.gate, Gate::kRegression);
}

TEST(Compare, EveryStateOfTheGate) {
  Side base{"b", {}}, same{"n", {}}, slower{"n", {}}, eager{"n", {}};
  Add(&base, "m", 20, 10);
  Add(&same, "m", 20, 10);
  Add(&slower, "m", 20, 12);
  Add(&eager, "m", 24, 10);
  const auto gate = [&](const Side& fresh, const Options& options = {}) {
    return Compare(base, fresh, {}, options).gate;
  };
  EXPECT_EQ(gate(same), Gate::kHolds);
  EXPECT_EQ(gate(slower), Gate::kRegression);
  EXPECT_EQ(gate(eager), Gate::kHolds) << "eager is not the compiler's";
  EXPECT_EQ(gate(eager, {{}, {Metric::kEagerLatency}}), Gate::kRegression);
  EXPECT_EQ(gate(slower, {{}, {Metric::kEagerLatency}}), Gate::kHolds);
  EXPECT_EQ(gate({"n", {}}), Gate::kNotEnough) << "an empty side is no success";
  EXPECT_EQ(gate({"n", {Measured("m", 20, 10)}}), Gate::kNotEnough) << "one process";
  EXPECT_EQ(gate(same, {{}, {Metric::kMemory}}), Gate::kNotEnough) << "asked for, not measured";
  Side other = same;
  for (Process& process : other.processes) process.host["driver"] = "560";
  for (Process& process : base.processes) process.host["driver"] = "550";
  const Comparison refused = Compare(base, other, {}, {});
  EXPECT_EQ(refused.gate, Gate::kIncomparable);
  EXPECT_THAT(refused.gate_reason, HasSubstr("driver 550 → 560"));
}

TEST(Compare, AModelThatNewWasToRunAndHasNoOutcomeOfIsNoSuccess) {
  Side base{"b", {}}, fresh{"n", {}};
  for (const char* model : {"m", "lost", "cancelled", "open", "skipped", "not_planned"}) {
    Add(&base, model, 20, 10);
    if (std::string(model) != "not_planned") Add(&fresh, model, 20, 10);
  }
  const auto gate = [&](const std::set<std::string>& without) {
    Side side = fresh;
    for (Process& process : side.processes) {
      const std::string& model = process.row.experiment.model;
      if (!without.contains(model)) continue;
      process.row.result->outcome = model == "lost"        ? plan::Outcome::kLost
                                    : model == "cancelled" ? plan::Outcome::kCancelled
                                                           : plan::Outcome::kSkipped;
      if (model == "open") process.row.result.reset();
    }
    return Compare(base, side, {}, {});
  };
  EXPECT_EQ(gate({}).gate, Gate::kHolds) << "what base alone planned is left out";
  EXPECT_EQ(gate({"skipped"}).gate, Gate::kHolds) << "a rule says so";
  for (const char* model : {"lost", "cancelled", "open"}) {
    const Comparison comparison = gate({model});
    EXPECT_EQ(comparison.gate, Gate::kNotEnough) << model;
    EXPECT_EQ(comparison.gate_reason,
              std::string("no verdict of 1 experiment that new was to run: timm/") + model);
  }
  const Comparison all = gate({"m", "lost", "cancelled", "open"});
  EXPECT_EQ(all.gate, Gate::kNotEnough);
  EXPECT_THAT(all.gate_reason, HasSubstr("of 3 experiments that new was to run: timm/lost, "));
  for (Process& process : fresh.processes) {
    if (process.row.experiment.model == "m") process.row.result->metrics.abs_latency_ms = 15;
  }
  const Comparison red = gate({"lost"});
  EXPECT_EQ(red.gate, Gate::kRegression);
  EXPECT_THAT(red.gate_reason, HasSubstr("regressions; no verdict of 1 experiment"));
}

TEST(Compare, ACommonMovementOfEagerIsSaid) {
  Side base{"b", {}}, fresh{"n", {}};
  for (int i = 0; i < 6; ++i) {
    Add(&base, "m" + std::to_string(i), 20, 10);
    Add(&fresh, "m" + std::to_string(i), 23, 11.5);
  }
  EXPECT_THAT(Compare(base, fresh, {}, {}).notes,
              Contains(HasSubstr("eager itself is 15% slower in the middle of 6 models")));
}

TEST(Compare, CompilingBesideAStrangerIsNoRedAndSaid) {
  Side base{"b", {}}, fresh{"n", {}};
  Add(&base, "m", 20, 10);
  Add(&fresh, "m", 20, 10);
  for (Process& process : base.processes) process.row.result->metrics.compilation_latency_s = 20;
  for (Process& process : fresh.processes) {
    process.row.result->metrics.compilation_latency_s = 300;
    process.row.result->metrics.window_flags = kForeignLoadCompiling;
  }
  const Comparison comparison = Compare(base, fresh, {}, {});
  EXPECT_NE(comparison.gate, Gate::kRegression) << comparison.gate_reason;
  EXPECT_THAT(comparison.notes,
              Contains(HasSubstr("the compile seconds of 3 of 6 processes count for nothing")));
  for (Process& process : fresh.processes) process.row.result->metrics.window_flags = kForeignLoad;
  EXPECT_EQ(Compare(base, fresh, {}, {}).gate, Gate::kRegression);
}

TEST(Compare, OneProcessASideSaysWhatToDo) {
  const Comparison comparison =
      Compare({"b", {Measured("m", 20, 10)}}, {"n", {Measured("m", 20, 14)}}, {}, {});
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("--noise")));
  ASSERT_EQ(comparison.findings.size(), 1U) << "large and unknown: worth another look";
  EXPECT_EQ(comparison.findings[0].level, Level::kNotice);
}

}  // namespace
}  // namespace dynbench::judge

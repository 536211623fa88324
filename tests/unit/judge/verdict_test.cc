// Method: one pair at a time, three processes a side with known medians, for each rule: the side
// that moved, absolute floors, one process a side, a noise floor, other hosts, what is refused.
#include "common/judge/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/window_flags.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using testing::HasSubstr;

// Three processes around these medians, half a percent apart.
std::vector<Process> Three(const std::string& model, double eager_ms, double compiled_ms) {
  std::vector<Process> processes;
  for (const double factor : {0.995, 1.0, 1.005}) {
    processes.push_back(Measured(model, eager_ms * factor, compiled_ms * factor));
    // Not the same factor for both, or the speedup would have no noise at all.
    auto& m = processes.back().row.result->metrics;
    m.abs_latency_ms = compiled_ms / factor;
    m.speedup = *m.eager_latency_ms / *m.abs_latency_ms;
  }
  return processes;
}

struct Judged {
  Pairing pairing;
  std::vector<Judgement> judgements;
  Side base, fresh;

  Judged(std::vector<Process> b, std::vector<Process> n, const std::vector<Process>& noise = {},
         const Rules& rules = {})
      : base{"b", std::move(b)}, fresh{"n", OnNewBuild(std::move(n))} {
    pairing = PairUp(base, fresh);
    judgements = Judge(pairing, FloorsOf(noise), rules);
  }
  const Judgement& Of(Metric metric, size_t pair = 0) const {
    for (const Judgement& j : judgements) {
      if (j.metric == metric && j.pair == pair) return j;
    }
    ADD_FAILURE() << "no judgement of " << ToString(metric);
    return judgements.front();
  }
};

TEST(Verdict, CompiledIsSlower) {
  const Judged run(Three("m", 20, 10), Three("m", 20, 12));
  const Judgement& compiled = run.Of(Metric::kCompiledLatency);
  EXPECT_EQ(compiled.verdict, Verdict::kRegressed) << compiled.reason;
  EXPECT_NEAR(*compiled.change, 0.2, 1e-6);
  EXPECT_LT(*compiled.needed, 0.2);
  EXPECT_LT(compiled.interval->low, 0.2);
  EXPECT_EQ(run.Of(Metric::kEagerLatency).verdict, Verdict::kSame);
  EXPECT_EQ(run.Of(Metric::kSpeedup).verdict, Verdict::kRegressed);
  EXPECT_EQ(run.Of(Metric::kSpeedup).moved, Moved::kCompiled);
}

TEST(Verdict, EagerAloneIsNoGainOfTheCompiler) {
  const Judged run(Three("m", 20, 10), Three("m", 24, 10));
  EXPECT_EQ(run.Of(Metric::kEagerLatency).verdict, Verdict::kRegressed);
  EXPECT_EQ(run.Of(Metric::kCompiledLatency).verdict, Verdict::kSame);
  EXPECT_EQ(run.Of(Metric::kSpeedup).verdict, Verdict::kSame);
  EXPECT_EQ(run.Of(Metric::kSpeedup).moved, Moved::kEager);
}

TEST(Verdict, FasterOnBothSides) {
  const Judged run(Three("m", 20, 10), Three("m", 16, 5));
  EXPECT_EQ(run.Of(Metric::kSpeedup).verdict, Verdict::kImproved);
  EXPECT_EQ(run.Of(Metric::kSpeedup).moved, Moved::kBoth);
}

TEST(Verdict, FiftyPercentOfAMicrosecondIsNothing) {
  const Judged run(Three("m", 0.004, 0.002), Three("m", 0.004, 0.003));
  EXPECT_EQ(run.Of(Metric::kCompiledLatency).verdict, Verdict::kSame);
  EXPECT_THAT(run.Of(Metric::kCompiledLatency).reason, HasSubstr("absolute floor"));
  EXPECT_EQ(run.Of(Metric::kSpeedup).verdict, Verdict::kSame) << "of both timings, too";
}

TEST(Verdict, CertainButBelowTheThreshold) {
  Rules rules;
  rules.threshold = 0.3;
  const Judged run(Three("m", 20, 10), Three("m", 20, 12), {}, rules);
  EXPECT_EQ(run.Of(Metric::kCompiledLatency).verdict, Verdict::kSame);
  EXPECT_EQ(*run.Of(Metric::kCompiledLatency).needed, 0.3);
}

// A rejection that is not told would raise the cut for every other test of the run.
TEST(Verdict, WhatIsNotToldMakesNoRoomForOthers) {
  Rules rules;
  rules.threshold = 0.3;
  const Judged small(Three("m", 20, 10), Three("m", 20, 12), {}, rules);
  EXPECT_LT(*small.Of(Metric::kCompiledLatency).p, 1e-4);
  EXPECT_EQ(*small.Of(Metric::kCompiledLatency).q, 1) << "below the threshold";
  const Judged tiny(Three("m", 0.004, 0.002), Three("m", 0.004, 0.003));
  EXPECT_EQ(*tiny.Of(Metric::kCompiledLatency).q, 1) << "below the absolute floor";
  EXPECT_EQ(*tiny.Of(Metric::kSpeedup).q, 1) << "of both timings";
  const Judged eager(Three("m", 20, 10), Three("m", 24, 10));
  EXPECT_LT(*eager.Of(Metric::kEagerLatency).q, 0.01);
  EXPECT_LT(*eager.Of(Metric::kSpeedup).p, 0.01);
  EXPECT_EQ(*eager.Of(Metric::kSpeedup).q, 1) << "eager alone moved";
  EXPECT_EQ(eager.Of(Metric::kSpeedup).verdict, Verdict::kSame);
}

// Three processes that compiled for about that long; the flagged ones beside a stranger.
std::vector<Process> Compiled(double seconds, const std::vector<bool>& flagged) {
  std::vector<Process> processes = Three("m", 20, 10);
  for (size_t i = 0; i < processes.size(); ++i) {
    plan::Metrics& m = processes[i].row.result->metrics;
    m.compilation_latency_s = (flagged[i] ? 3 : 1) * seconds * (1 + 0.003 * static_cast<double>(i));
    m.window_flags = flagged[i] ? kForeignLoadCompiling : kForeignLoad;
  }
  return processes;
}

TEST(Verdict, CompileSecondsBesideAStrangerCountForNothing) {
  const Judged slower(Compiled(20, {false, false, false}), Compiled(30, {false, false, false}));
  EXPECT_EQ(slower.Of(Metric::kCompileSeconds).verdict, Verdict::kRegressed);
  const Judged same(Compiled(20, {false, false, false}), Compiled(20, {true, false, false}));
  EXPECT_EQ(same.Of(Metric::kCompileSeconds).verdict, Verdict::kSame)
      << same.Of(Metric::kCompileSeconds).reason;
  EXPECT_EQ(same.Of(Metric::kCompileSeconds).fresh_processes, 2u);
  const Judged alone(Compiled(20, {false, false, false}), Compiled(20, {true, true, true}));
  const Judgement& j = alone.Of(Metric::kCompileSeconds);
  EXPECT_EQ(j.verdict, Verdict::kUnknown) << "three times as long, and nobody can say why";
  EXPECT_TRUE(j.disturbed);
  EXPECT_NEAR(*j.change, 2, 0.05);
  EXPECT_THAT(j.reason, HasSubstr("others ran on the cores of new while the model compiled"));
  EXPECT_EQ(alone.Of(Metric::kCompiledLatency).verdict, Verdict::kSame) << "was measured after it";
}

TEST(Verdict, OneProcessASideIsUnknownUnlessBeyondTheBound) {
  const Judged twice({Measured("m", 20, 10)}, {Measured("m", 20, 20)});
  EXPECT_EQ(twice.Of(Metric::kCompiledLatency).verdict, Verdict::kUnknown);
  EXPECT_FALSE(twice.Of(Metric::kCompiledLatency).p);
  EXPECT_NEAR(*twice.Of(Metric::kCompiledLatency).needed, 9, 1e-9);
  const Judged tenfold({Measured("m", 20, 10)}, {Measured("m", 20, 150)});
  EXPECT_EQ(tenfold.Of(Metric::kCompiledLatency).verdict, Verdict::kRegressed);
  std::vector<Process> wild = {Measured("m", 20, 150)};
  wild[0].row.result->metrics.compiled_spread = 8;  // its own samples jump as far
  EXPECT_EQ(Judged({Measured("m", 20, 10)}, wild).Of(Metric::kCompiledLatency).verdict,
            Verdict::kUnknown);
}

TEST(Verdict, ANoiseFloorMakesOneProcessEnough) {
  std::vector<Process> noise;
  for (const double ms : {9.98, 10.0, 10.02, 9.99, 10.01, 10.0}) {
    noise.push_back(Measured("m", 20, ms));
  }
  const Judged run({Measured("m", 20, 10)}, {Measured("m", 20, 11)}, noise);
  EXPECT_EQ(run.Of(Metric::kCompiledLatency).verdict, Verdict::kRegressed);
  const Judged small({Measured("m", 20, 0.002)}, {Measured("m", 20, 0.003)});
  EXPECT_EQ(small.Of(Metric::kCompiledLatency).verdict, Verdict::kSame);
  // A floor of another series or another host says nothing.
  for (Process& process : noise) process.row.worker_host = "b";
  const Judged elsewhere({Measured("m", 20, 10)}, {Measured("m", 20, 11)}, noise);
  EXPECT_EQ(elsewhere.Of(Metric::kCompiledLatency).verdict, Verdict::kUnknown);
}

TEST(Verdict, DifferentHostsAreNotEvidence) {
  std::vector<Process> fresh = Three("m", 20, 12);
  for (Process& process : fresh) process.row.worker_host = process.host["host"] = "b";
  const Judged run(Three("m", 20, 10), fresh);
  EXPECT_EQ(run.Of(Metric::kCompiledLatency).verdict, Verdict::kUnknown);
  EXPECT_THAT(run.Of(Metric::kCompiledLatency).reason, HasSubstr("different hosts"));
}

// As many processes as `hosts` says, by name: "AAB". Host B is ten percent slower.
std::vector<Process> OnHosts(const std::string& hosts, double compiled_ms) {
  std::vector<Process> processes;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const double own = 1 + 0.002 * static_cast<double>(i % 3);
    const double host = hosts[i] == 'B' ? 1.1 : 1;
    Process& p = processes.emplace_back(Measured("m", 20 * host, compiled_ms * host * own));
    p.row.worker_host = p.host["host"] = std::string(1, hosts[i]);
  }
  return processes;
}

TEST(Verdict, WhichHostHadMoreOfASidesProcessesIsNoChange) {
  std::vector<Process> noise = OnHosts("AAABBB", 10);
  for (const auto& floor : {std::vector<Process>(), noise}) {
    const Judged run(OnHosts("AAAAB", 10), OnHosts("ABBBB", 10), floor);
    for (const Metric metric :
         {Metric::kSpeedup, Metric::kCompiledLatency, Metric::kEagerLatency}) {
      EXPECT_EQ(run.Of(metric).verdict, Verdict::kSame) << run.Of(metric).reason;
      EXPECT_NEAR(*run.Of(metric).change, 0, 0.003);
    }
  }
  const Judged slower(OnHosts("AAAAB", 10), OnHosts("ABBBB", 11));
  const Judgement& j = slower.Of(Metric::kCompiledLatency);
  EXPECT_EQ(j.verdict, Verdict::kRegressed) << j.reason;
  EXPECT_NEAR(*j.change, 0.1, 0.003);
  EXPECT_NEAR(*j.fresh / *j.base - 1, *j.change, 1e-9);
  EXPECT_EQ(j.base_processes + j.fresh_processes, 10U);
  const Judged one_each(OnHosts("AB", 10), OnHosts("AB", 11));
  EXPECT_EQ(one_each.Of(Metric::kCompiledLatency).verdict, Verdict::kUnknown)
      << "nothing says how processes differ on a host";
}

TEST(Verdict, NoiseThatHidesAChangeIsUnknownAndSaysWhatWouldDo) {
  const std::vector<Process> noisy = {Measured("m", 20, 8), Measured("m", 20, 10),
                                      Measured("m", 20, 12.5)};
  const Judged run(noisy, noisy);
  const Judgement& j = run.Of(Metric::kCompiledLatency);
  EXPECT_EQ(j.verdict, Verdict::kUnknown);
  EXPECT_THAT(j.reason, HasSubstr("between processes hides changes"));
}

TEST(Verdict, IncomparableUnlessAskedFor) {
  std::vector<Process> fresh = Three("m", 20, 12);
  for (Process& process : fresh) process.host["kernel"] = "6.2";
  const Judged refused(Three("m", 20, 10), fresh);
  EXPECT_EQ(refused.Of(Metric::kCompiledLatency).verdict, Verdict::kIncomparable);
  EXPECT_EQ(refused.Of(Metric::kCompiledLatency).reason, "kernel 6.1 → 6.2");
  Rules rules;
  rules.allow_incomparable = true;
  const Judged allowed(Three("m", 20, 10), fresh, {}, rules);
  EXPECT_EQ(allowed.Of(Metric::kCompiledLatency).verdict, Verdict::kRegressed);
}

TEST(Verdict, StatusOfTheAccuracyTest) {
  const auto verdict = [](const std::vector<Process>& base, const std::vector<Process>& fresh) {
    return Judged(base, fresh).Of(Metric::kStatus).verdict;
  };
  const Process pass = Checked("m", "pass"), fail = Checked("m", "fail_accuracy");
  EXPECT_EQ(verdict({pass}, {fail}), Verdict::kRegressed);
  EXPECT_EQ(verdict({fail}, {pass}), Verdict::kImproved);
  EXPECT_EQ(verdict({fail}, {Checked("m", "crash")}), Verdict::kSame);
  EXPECT_EQ(verdict({pass, pass}, {pass, fail}), Verdict::kUnknown) << "flaky";
  EXPECT_EQ(Judged({pass, pass}, {pass, fail}).Of(Metric::kStatus).reason, "new passed 1 of 2");
}

}  // namespace
}  // namespace dynbench::judge

// Method: sides with every way of not meeting: only on one side, without a result, another series,
// another host, a suite list that was cut (a user's report: 60 models became 14).
#include "common/judge/pairing.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

Process On(Process process, const std::string& host) {
  process.row.worker_host = process.host["host"] = host;
  return process;
}

TEST(Pairing, CommonSetOfAListThatWasCut) {
  Side base, fresh;
  for (int i = 0; i < 60; ++i) {
    base.processes.push_back(Measured("m" + std::to_string(i), 20, 10));
    if (i % 5 == 0) fresh.processes.push_back(Measured("m" + std::to_string(i), 20, 10));
  }
  fresh.processes.push_back(Measured("brand_new", 20, 10));
  const Pairing pairing = PairUp(base, fresh);
  EXPECT_EQ(pairing.pairs.size(), 12U);
  ASSERT_EQ(pairing.left_out.size(), 49U);
  EXPECT_EQ(pairing.left_out.front().reason, "only in base");
  EXPECT_EQ(pairing.left_out.back().reason, "only in new");
}

TEST(Pairing, EveryProcessOfASeriesCounts) {
  const Side base{"b", {Measured("m", 20, 10), Measured("m", 21, 10), Measured("m", 22, 10)}};
  Process other_environment = Measured("m", 20, 9);
  other_environment.row.experiment.environment = "nightly";
  const Pairing pairing = PairUp(base, {"n", {other_environment}});
  ASSERT_EQ(pairing.pairs.size(), 1U);
  EXPECT_EQ(pairing.pairs[0].base.size(), 3U);
  EXPECT_TRUE(pairing.pairs[0].comparable()) << "the environment is what is compared";
}

TEST(Pairing, WhatHasNoResultIsLeftOutWithItsReason) {
  Process waiting = Measured("w", 1, 1), skipped = Measured("s", 1, 1), lost = Measured("l", 1, 1);
  waiting.row.result.reset();
  skipped.row.result->outcome = plan::Outcome::kSkipped;
  skipped.row.result->error = "not on aarch64";
  lost.row.result->outcome = plan::Outcome::kLost;
  lost.row.result->status = "worker_gone";
  const Side base{"b", {Measured("w", 1, 1), skipped, Measured("l", 1, 1)}};
  const Pairing pairing = PairUp(base, {"n", {waiting, skipped, lost}});
  EXPECT_TRUE(pairing.pairs.empty());
  ASSERT_EQ(pairing.left_out.size(), 3U);
  EXPECT_EQ(pairing.left_out[0].reason, "new: no result yet");
  EXPECT_EQ(pairing.left_out[1].reason, "both: skipped: not on aarch64");
  EXPECT_EQ(pairing.left_out[2].reason, "new: lost: worker_gone");
}

TEST(Pairing, AnotherSeriesOfTheSameModelIsNamedAndIncomparable) {
  Process fresh = Measured("m", 20, 10);
  fresh.row.experiment.options.freezing = true;
  const Pairing pairing = PairUp({"b", {Measured("m", 20, 10)}}, {"n", {fresh}});
  ASSERT_EQ(pairing.pairs.size(), 1U);
  EXPECT_FALSE(pairing.pairs[0].comparable());
  EXPECT_EQ(ToString(pairing.pairs[0].differences.front()), "options.freezing false → true");
}

TEST(Pairing, BaselineIsOfTheSameHostWhereThereIsOne) {
  const Side base{"b", {On(Measured("m", 20, 10), "a"), On(Measured("m", 40, 20), "b")}};
  const Side fresh{"n", {On(Measured("m", 20, 10), "a")}};
  const Pairing shared = PairUp(base, fresh);
  ASSERT_EQ(shared.pairs.size(), 1U);
  EXPECT_EQ(shared.pairs[0].base.size(), 1U);
  EXPECT_EQ(shared.pairs[0].dropped_elsewhere, 1U);
  EXPECT_TRUE(shared.pairs[0].same_host);
  const Pairing apart = PairUp(base, {"n", {On(Measured("m", 20, 10), "c")}});
  EXPECT_FALSE(apart.pairs[0].same_host);
  EXPECT_TRUE(apart.pairs[0].comparable()) << "equal machines may be compared, with more doubt";
}

TEST(Pairing, DiagnosticRerunsNeverCount) {
  Process diagnostic = Measured("m", 20, 10);
  diagnostic.row.experiment.diagnostics = {"profiler"};
  EXPECT_TRUE(PairUp({"b", {diagnostic}}, {"n", {diagnostic}}).pairs.empty());
}

}  // namespace
}  // namespace dynbench::judge

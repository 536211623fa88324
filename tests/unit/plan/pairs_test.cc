// Method: requests of pair jobs expanded from a suite that is written here; the rows are counted
// and their order looked at over many seeds.
#include "common/plan/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "common/plan/needs.h"
#include "common/plan/request_check.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;

Request PairRequest() {
  Request request;
  request.suite = "timm";
  request.base = "old";
  request.fresh = "nightly";
  return request;
}

std::vector<Experiment> Rows(const Request& request, int models) {
  std::vector<Experiment> rows;
  for (int i = 0; i < models; ++i) {
    Experiment& e = rows.emplace_back();
    e.suite = "timm";
    e.model = "m" + std::to_string(i);
    e.environment = request.base;
  }
  MakePairs(request, &rows);
  return rows;
}

TEST(Pairs, EveryRoundHasBothSidesAndTheSeriesOfASingleMeasurement) {
  Request request = PairRequest();
  request.rounds_max = 5;
  const auto rows = Rows(request, 2);
  ASSERT_EQ(rows.size(), 2U * 2 * (5 + kSpareRounds));
  Experiment single;
  single.suite = "timm";
  single.model = "m0";
  std::map<std::pair<int, int>, std::set<std::string>> sides;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Experiment& e = rows[i];
    sides[{e.pair, e.round}].insert(e.side + " " + e.environment);
    EXPECT_EQ(e.round, rows[i ^ 1].round) << "the sides of a round are planned together";
    if (e.model == "m0") {
      EXPECT_EQ(SeriesKey(e), SeriesKey(single));
    }
  }
  for (const auto& [round, both] : sides) {
    EXPECT_EQ(both, (std::set<std::string>{"base old", "new nightly"}));
  }
}

TEST(Pairs, OfTwoRoundsOneBeginsWithBaseAndTheyHaveTwoZygotes) {
  std::map<bool, int> first;
  for (int64_t seed = 1; seed <= 200; ++seed) {
    Request request = PairRequest();
    request.pair_seed = seed;
    const auto rows = Rows(request, 1);
    for (size_t i = 0; i + 3 < rows.size(); i += 4) {
      EXPECT_NE(rows[i].side, rows[i + 2].side) << "seed " << seed << " round " << rows[i].round;
      EXPECT_NE(rows[i].zygote, rows[i + 2].zygote);
      EXPECT_EQ(rows[i].zygote, rows[i + 1].zygote);
    }
    ++first[rows[0].side == kBaseSide];
    EXPECT_EQ(rows, Rows(request, 1)) << "the same seed plans the same";
  }
  EXPECT_GT(first[true], 70);
  EXPECT_GT(first[false], 70);
}

TEST(Pairs, WhatThePlanSkipsHasOneRound) {
  const Request request = PairRequest();
  std::vector<Experiment> rows(1);
  rows[0].planned_outcome = Outcome::kSkipped;
  rows[0].reason = "not on aarch64";
  MakePairs(request, &rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].reason, "not on aarch64");
}

TEST(Pairs, BothEnvironmentsAreNeededOnOneWorkerAndTheSameOneTwiceIsOne) {
  Request request = PairRequest();
  EXPECT_EQ(NeedsOf(Experiment(), request).environments,
            (std::vector<std::string>{"old", "nightly"}));
  EXPECT_EQ(EnvironmentsOf(request), (std::vector<std::string>{"old", "nightly"}));
  request.fresh = "old";
  EXPECT_EQ(NeedsOf(Experiment(), request).environments, (std::vector<std::string>{"old"}));
  EXPECT_TRUE(NeedsOf(Experiment(), Request()).environments.empty());
}

TEST(Pairs, WhatMakesNoSenseIsRefused) {
  const auto refusal = [](const std::function<void(Request*)>& change) {
    Request request = PairRequest();
    change(&request);
    return std::string(CheckPairs(request).message());
  };
  EXPECT_EQ(refusal([](Request*) {}), "");
  EXPECT_THAT(refusal([](Request* r) { r->base.clear(); }), HasSubstr("--new needs --base"));
  EXPECT_THAT(refusal([](Request* r) { r->fresh.clear(); }), HasSubstr("--base needs --new"));
  EXPECT_THAT(refusal([](Request* r) { r->environments = {"x"}; }), HasSubstr("--environment"));
  EXPECT_THAT(refusal([](Request* r) { r->rounds_min = 2; }), HasSubstr("--rounds"));
  EXPECT_THAT(refusal([](Request* r) { r->rounds_max = 2; }), HasSubstr("--rounds"));
  EXPECT_THAT(refusal([](Request* r) { r->output = "x.csv"; }), HasSubstr("compare JOB --csv"));
  EXPECT_THAT(refusal([](Request* r) { r->tests = {plan::Test::kTolerance}; }),
              HasSubstr("tolerance"));
  EXPECT_THAT(refusal([](Request* r) {
                r->base.clear();
                r->fresh.clear();
                r->budget_s = 60;
              }),
              HasSubstr("--budget has no effect"));
}

TEST(Pairs, ASingleExperimentAgain) {
  Experiment e = Rows(PairRequest(), 1)[3];
  LeavePair(&e);
  EXPECT_EQ(e.pair, 0);
  EXPECT_EQ(DisplayName(e).find("round"), std::string::npos);
}

}  // namespace
}  // namespace dynbench::plan

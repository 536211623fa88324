// Method: pair jobs of one environment against itself are written to a real store, some of their
// rounds disturbed, one of them cancelled; what is learned of each is read back.
#include "coordinator/session/learn_noise.h"

#include <string>
#include <vector>

#include "common/plan/pairs.h"
#include "common/store/noise_floors.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::session {
namespace {

class LearnNoiseTest : public store::StoreTest {
 protected:
  // A job of one pair with so many rounds.
  store::InsertedJob Plan(int rounds) {
    store::NewJob job = store::MakeJob({});
    for (int round = 1; round <= rounds; ++round) {
      for (const char* side : {plan::kBaseSide, plan::kNewSide}) {
        plan::Experiment& e = job.plan.experiments.emplace_back(store::MakeExperiment("m"));
        e.pair = 1;
        e.round = round;
        e.side = side;
      }
    }
    return Submit(job);
  }

  // Both sides of the round, under one lease, or under two when something came between them.
  void Measure(const store::InsertedJob& job, int round, double compiled_ms, bool together = true) {
    const auto first = 2 * static_cast<size_t>(round - 1);
    std::vector<int64_t> leases = {++leases_};
    if (together) {
      ASSERT_OK(Lease(leases_, {job.experiments[first], job.experiments[first + 1]}));
    } else {
      leases.push_back(++leases_);
      ASSERT_OK(Lease(leases[0], {job.experiments[first]}, 0));
      ASSERT_OK(Lease(leases[1], {job.experiments[first + 1]}, 1));
    }
    for (const size_t side : {0U, 1U}) {
      plan::Result result = store::MakeResult();
      result.metrics.abs_latency_ms = compiled_ms * (side == 0 ? 1 : 1.01);
      ASSERT_TRUE(Record(job.experiments[first + side], leases[together ? 0 : side], result).ok());
    }
    for (const int64_t lease : leases) {
      ASSERT_OK(Write([&] { return store::CloseLease(*db_, LeaseEpoch(lease), {8'000}); }));
    }
  }

  // What has no result then ends as cancelled.
  void Cancel(const store::InsertedJob& job, int measured_rounds) {
    ASSERT_OK(Write([&] { return store::MarkCancelled(*db_, job.job, "enough", {9'000}); }));
    for (size_t i = 2 * static_cast<size_t>(measured_rounds); i < job.experiments.size(); ++i) {
      ASSERT_OK(Write([&] {
        return store::Conclude(*db_, job.experiments[i], plan::Outcome::kCancelled, "cancelled",
                               plan::Blame::kNone, "enough", {9'000});
      }));
    }
  }

  absl::Status Learn(JobId job) {
    return Write([&] { return LearnNoise(*db_, job, {10'000}); });
  }

  std::vector<store::NoiseFloorRow> Compiled() {
    const auto all = store::ListNoiseFloors(*db_);
    EXPECT_TRUE(all.ok()) << all.status();
    std::vector<store::NoiseFloorRow> found;
    for (const store::NoiseFloorRow& floor : *all) {
      if (floor.metric == "compiled_latency") found.push_back(floor);
    }
    return found;
  }

  int64_t leases_ = 0;
};

TEST_F(LearnNoiseTest, ADisturbedRoundIsNoNoise) {
  const store::InsertedJob job = Plan(3);
  Measure(job, 1, 10);
  Measure(job, 2, 10);
  Measure(job, 3, 30, /*together=*/false);
  ASSERT_OK(Learn(job.job));
  ASSERT_EQ(Compiled().size(), 1u);
  EXPECT_EQ(Compiled()[0].processes, 4);
  EXPECT_LT(Compiled()[0].between_variance, 1e-3) << "the third took three times as long";
}

TEST_F(LearnNoiseTest, OneRoundIsTooLittle) {
  const store::InsertedJob job = Plan(1);
  Measure(job, 1, 10);
  ASSERT_OK(Learn(job.job));
  EXPECT_TRUE(Compiled().empty());
}

TEST_F(LearnNoiseTest, ACancelledRunReplacesNoneThatKnowsMore) {
  const store::InsertedJob whole = Plan(5), cancelled = Plan(5), again = Plan(3);
  for (int round = 1; round <= 5; ++round) Measure(whole, round, 10);
  ASSERT_OK(Learn(whole.job));
  ASSERT_EQ(Compiled().size(), 1u);
  EXPECT_DOUBLE_EQ(Compiled()[0].degrees_of_freedom, 9);

  Measure(cancelled, 1, 10);
  Measure(cancelled, 2, 11);
  Cancel(cancelled, 2);
  ASSERT_OK(Learn(cancelled.job));
  EXPECT_EQ(Compiled()[0].job, whole.job);

  for (int round = 1; round <= 3; ++round) Measure(again, round, 10);
  ASSERT_OK(Learn(again.job));
  EXPECT_EQ(Compiled()[0].job, again.job) << "the newest that ended as planned counts";
}

}  // namespace
}  // namespace dynbench::session

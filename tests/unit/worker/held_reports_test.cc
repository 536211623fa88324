// Method: attempts start, change their phase and end; what would be sent is looked at.
#include "worker/agent/held_reports.h"

#include "gtest/gtest.h"
#include "proto/dynbench/convert.h"

namespace dynbench::worker {
namespace {

const AttemptId kOne{ExperimentId(1), LeaseEpoch(7)}, kTwo{ExperimentId(2), LeaseEpoch(7)};

v1::AttemptStarted Start(const AttemptId& attempt) {
  v1::AttemptStarted started;
  *started.mutable_attempt() = proto::ToProto(attempt);
  started.set_started_unix_ms(12);
  return started;
}

TEST(HeldReports, AStartIsToldBeforeItsPhaseAndOnlyTheLastPhaseIs) {
  HeldReports held;
  held.Started(Start(kOne));
  held.Phase(kOne, plan::Phase::kLoad);
  held.Phase(kOne, plan::Phase::kCompile);
  held.Phase(kTwo, plan::Phase::kEager);  // its start was told before
  const auto messages = held.Take();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].started().started_unix_ms(), 12);
  EXPECT_EQ(messages[1].phase().phase(), "compile");
  EXPECT_EQ(proto::FromProto(messages[2].phase().attempt()), kTwo);
  EXPECT_TRUE(held.empty());
  EXPECT_TRUE(held.Take().empty());
}

TEST(HeldReports, OfWhatEndedMeanwhileNothingIsTold) {
  HeldReports held;
  held.Started(Start(kOne));
  held.Started(Start(kTwo));
  held.Phase(kOne, plan::Phase::kLoad);
  held.Drop(kOne);
  const auto messages = held.Take();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(proto::FromProto(messages[0].started().attempt()), kTwo);
}

}  // namespace
}  // namespace dynbench::worker

// Method: lists of kinds as a person would type them.
#include "common/plan/diagnostics.h"

#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

TEST(DiagnosticsTest, EveryKnownKindIsTaken) {
  EXPECT_TRUE(CheckDiagnostics({}).ok());
  EXPECT_TRUE(CheckDiagnostics(DiagnosticsKinds()).ok());
  EXPECT_TRUE(CheckDiagnostics(DefaultDiagnostics()).ok());
}

TEST(DiagnosticsTest, AnUnknownKindIsNamedWithThoseThatThereAre) {
  const absl::Status status = CheckDiagnostics({"trace", "traces"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string text(status.message());
  EXPECT_NE(text.find("\"traces\""), std::string::npos) << text;
  EXPECT_NE(text.find("memory_snapshot"), std::string::npos) << text;
}

TEST(DiagnosticsTest, TheCacheAloneRecordsNothingWhileTheModelRuns) {
  EXPECT_FALSE(Instruments({}));
  EXPECT_FALSE(Instruments({"cache"}));
  EXPECT_TRUE(Instruments({"cache", "trace"}));
  for (const std::string& kind : DefaultDiagnostics()) EXPECT_NE(kind, "cache");
}

}  // namespace
}  // namespace dynbench::plan

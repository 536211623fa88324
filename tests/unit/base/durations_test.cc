// Method: what people type against milliseconds worked out by hand, and what nobody should.
#include "common/base/durations.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench {
namespace {

TEST(DurationsTest, UnitsAndFractions) {
  EXPECT_EQ(*ParseDurationMs("90", "--d"), 90'000);
  EXPECT_EQ(*ParseDurationMs("90s", "--d"), 90'000);
  EXPECT_EQ(*ParseDurationMs("10m", "--d"), 600'000);
  EXPECT_EQ(*ParseDurationMs("1.5h", "--d"), 5'400'000);
  EXPECT_EQ(*ParseDurationMs("7d", "--d"), 604'800'000);
  EXPECT_EQ(*ParseDurationMs("0", "--d"), 0);
}

TEST(DurationsTest, NonsenseIsRefusedByTheFlagsName) {
  for (const char* text : {"", "m", "ten", "-5m", "1e9d", "5 m", "10ms", "nan", "1.2.3s"}) {
    const auto parsed = ParseDurationMs(text, "--deadline");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(parsed.status().message()), testing::HasSubstr("--deadline"));
  }
}

TEST(DurationsTest, AsPeopleReadThem) {
  EXPECT_EQ(FormatSeconds(0.84), "0.8 s");
  EXPECT_EQ(FormatSeconds(-1), "0.0 s");
  EXPECT_EQ(FormatSeconds(9.96), "10 s");
  EXPECT_EQ(FormatSeconds(59.4), "59 s");
  EXPECT_EQ(FormatSeconds(59.6), "1 min 00 s");
  EXPECT_EQ(FormatSeconds(185), "3 min 05 s");
  EXPECT_EQ(FormatSeconds(7800), "2 h 10 min");
  EXPECT_EQ(FormatDuration(200'000'000'000), "3 min 20 s");
}

}  // namespace
}  // namespace dynbench

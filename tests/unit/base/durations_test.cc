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
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(FormatDuration(-5 * kSecond), "0 s");
  EXPECT_EQ(FormatDuration(59 * kSecond + 999), "59 s");
  EXPECT_EQ(FormatDuration(200 * kSecond), "3 min 20 s");
  EXPECT_EQ(FormatDuration(7'500 * kSecond), "2 h 5 min");
}

}  // namespace
}  // namespace dynbench

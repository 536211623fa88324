// Method: values at the edges of every format, as text.
#include "common/formats/format_number.h"

#include <limits>

#include "gtest/gtest.h"

namespace dynbench::formats {
namespace {

TEST(FormatNumber, ReadsWell) {
  EXPECT_EQ(Fixed(1.25, 6), "1.250000");
  EXPECT_EQ(Fixed(-0.5, 0), "-0");
  EXPECT_EQ(Fixed(std::numeric_limits<double>::quiet_NaN(), 2), "nan");
  EXPECT_EQ(Fixed(-std::numeric_limits<double>::infinity(), 2), "-inf");
  EXPECT_EQ(Fixed(std::numeric_limits<double>::max(), 6).size(), 316u);
  EXPECT_EQ(Times(1.4203), "1.42x");
  EXPECT_EQ(Milliseconds(0.12345), "0.123");
  EXPECT_EQ(Milliseconds(30.126), "30.13");
  EXPECT_EQ(Milliseconds(1204.46), "1204.5");
  EXPECT_EQ(Percent(0.0123), "1.2%");
  EXPECT_EQ(Percent(0.2), "20%");
  EXPECT_EQ(Percent(0), "0.0%");
}

}  // namespace
}  // namespace dynbench::formats

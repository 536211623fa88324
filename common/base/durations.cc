#include "common/base/durations.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/time.h"

namespace dynbench {
namespace {

constexpr double kLongestMs = 100.0 * 365 * 86'400'000;

int64_t UnitMs(char unit) {
  switch (unit) {
    case 's':
      return 1'000;
    case 'm':
      return 60'000;
    case 'h':
      return 3'600'000;
    case 'd':
      return 86'400'000;
    default:
      return 0;
  }
}

std::string TwoDigits(int64_t value) { return absl::StrCat(value < 10 ? "0" : "", value); }

}  // namespace

absl::StatusOr<int64_t> ParseDurationMs(const std::string& text, const std::string& flag) {
  std::string number = text;
  int64_t unit_ms = 1'000;
  if (!number.empty() && UnitMs(number.back()) > 0) {
    unit_ms = UnitMs(number.back());
    number.pop_back();
  }
  double value = 0;
  const bool plain = number.find_first_not_of("0123456789.") == std::string::npos;
  if (number.empty() || !plain || !absl::SimpleAtod(number, &value) ||
      value * static_cast<double>(unit_ms) > kLongestMs) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": '", text, "' is no length of time; write 90s, 10m, 2h or 7d"));
  }
  return static_cast<int64_t>(std::llround(value * static_cast<double>(unit_ms)));
}

std::string FormatSeconds(double seconds) {
  if (seconds < 9.95) {
    const auto tenths = static_cast<int64_t>(std::llround(std::max(0.0, seconds) * 10));
    return absl::StrCat(tenths / 10, ".", tenths % 10, " s");
  }
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return absl::StrCat(whole, " s");
  if (whole < 3600) return absl::StrCat(whole / 60, " min ", TwoDigits(whole % 60), " s");
  return absl::StrCat(whole / 3600, " h ", TwoDigits(whole % 3600 / 60), " min");
}

std::string FormatDuration(int64_t ns) {
  return FormatSeconds(static_cast<double>(ns) / static_cast<double>(kNsPerSecond));
}

}  // namespace dynbench

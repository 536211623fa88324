#include "common/base/durations.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

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

}  // namespace dynbench

#include "common/formats/format_number.h"

#include <array>
#include <charconv>
#include <cmath>

namespace dynbench::formats {
std::string Fixed(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 512> buffer;  // a double has at most 309 digits before the point
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(buffer.data(), end) : "?";
}

std::string Times(double ratio) { return Fixed(ratio, 2) + "x"; }

std::string Milliseconds(double ms) {
  const double size = std::fabs(ms);
  return Fixed(ms, size < 10 ? 3 : size < 100 ? 2 : 1);
}

std::string Percent(double fraction) {
  const double percent = fraction * 100;
  return Fixed(percent, std::fabs(percent) < 9.95 ? 1 : 0) + "%";
}

}  // namespace dynbench::formats

// Numbers for people. Pure; independent of the locale.
#pragma once

#include <string>

namespace dynbench::formats {

std::string Fixed(double value, int decimals);  // "1.250000"
std::string Times(double ratio);                // "1.42x"
std::string Milliseconds(double ms);   // "0.123", "30.12", "1204.5": four digits that count
std::string Percent(double fraction);  // 0.0123 -> "1.2%"; from 10 % on without decimals

}  // namespace dynbench::formats

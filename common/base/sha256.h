// SHA-256, for content addresses and keys.
#pragma once

#include <string>
#include <string_view>

namespace dynbench {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace dynbench

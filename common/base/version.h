// The version of dynbench: what `version` prints, and what Hello, Welcome and GetInfo carry.
#pragma once

namespace dynbench {

inline constexpr char kVersion[] = "0.1.0";  // as in the root CMakeLists.txt

}  // namespace dynbench

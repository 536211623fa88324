// Cutting a text at a character, into strings of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"

namespace dynbench::worker {

// Empty pieces are kept, as absl::StrSplit keeps them.
inline std::vector<std::string> Split(std::string_view text, char separator) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), separator);
}

}  // namespace dynbench::worker

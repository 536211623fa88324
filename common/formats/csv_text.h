// CSV as RFC 4180 has it, both ways. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::formats {

// One line with its '\n'. A cell is quoted where it needs to be, or always with `quote_all`.
std::string CsvLine(const std::vector<std::string>& cells, bool quote_all = false);

// The lines of a file, the header being the first; blank lines are left out and '\r' before '\n'
// is dropped. InvalidArgument names the line of a quote that is never closed.
absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text);

}  // namespace dynbench::formats

// CSV as RFC 4180 has it, both ways; reading tolerantly or strictly. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::formats {

struct CsvRecord {
  std::vector<std::string> cells;
  bool ended = true;        // false: the text stopped within it, so its last cell may be cut
  int open_quote_line = 0;  // > 0: the line, from 1, of a quote that is never closed
};

// Every record but empty lines. Quoted cells may hold line ends; a quote that is never closed ends
// with the text. '\r' before a line end is dropped, NUL bytes are kept.
std::vector<CsvRecord> ReadCsv(std::string_view text);

// The cells of ReadCsv, the header being the first. InvalidArgument names the line of a quote that
// is never closed.
absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text);

// One line with its '\n'. A cell is quoted where it needs to be, or always with `quote_all`.
std::string CsvLine(const std::vector<std::string>& cells, bool quote_all = false);

}  // namespace dynbench::formats

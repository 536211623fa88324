// Reading comma-separated text (RFC 4180), tolerantly. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dynbench::formats {

struct CsvRecord {
  std::vector<std::string> cells;
  bool ended = true;  // false: the text stopped within it, so its last cell may be cut
};

// Every record but empty lines. Quoted cells may hold line ends; a quote that is never closed ends
// with the text. '\r' before a line end is dropped, NUL bytes are kept.
std::vector<CsvRecord> ReadCsv(std::string_view text);

}  // namespace dynbench::formats

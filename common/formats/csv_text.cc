#include "common/formats/csv_text.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dynbench::formats {
namespace {

std::string Quoted(const std::string& cell) {
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& cells, bool quote_all) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool quote = quote_all || cells[i].find_first_of(",\"\r\n") != std::string::npos;
    line += (i == 0 ? "" : ",") + (quote ? Quoted(cells[i]) : cells[i]);
  }
  return line + "\n";
}

absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false;
  int line = 1, quote_line = 0;
  const auto end_line = [&] {
    if (!cells.empty() || !cell.empty()) {
      cells.push_back(std::move(cell));
      lines.push_back(std::move(cells));
    }
    cells.clear();
    cell.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n' ? 1 : 0;
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && cell.empty()) {
      quoted = true;
      quote_line = line;
    } else if (c == ',') {
      cells.push_back(std::move(cell));
      cell.clear();
    } else if (c == '\n') {
      end_line();
    } else if (c != '\r' || i + 1 == text.size() || text[i + 1] != '\n') {
      cell += c;
    }
  }
  if (quoted) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", quote_line, ": a quote is opened and never closed"));
  }
  end_line();
  return lines;
}

}  // namespace dynbench::formats

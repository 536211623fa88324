#include "common/formats/csv.h"

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

std::vector<CsvRecord> ReadCsv(std::string_view text) {
  std::vector<CsvRecord> records;
  CsvRecord record;
  std::string cell;
  bool quoted = false, any = false;
  int line = 1, quote_line = 0;
  const auto end_record = [&](size_t end, bool ended) {
    // What stands before a line's end, not what a quoted cell ends with.
    if (!quoted && !cell.empty() && text[end - 1] == '\r') cell.pop_back();
    if (any || !cell.empty()) {
      record.cells.push_back(std::move(cell));
      record.ended = ended;
      record.open_quote_line = quoted ? quote_line : 0;
      records.push_back(std::move(record));
    }
    record = {};
    cell.clear();
    any = false;
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
      quoted = any = true;
      quote_line = line;
    } else if (c == ',') {
      record.cells.push_back(std::move(cell));
      cell.clear();
      any = true;
    } else if (c == '\n') {
      end_record(i, true);
    } else {
      cell += c;
    }
  }
  end_record(text.size(), false);
  return records;
}

absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (CsvRecord& record : ReadCsv(text)) {
    if (record.open_quote_line > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", record.open_quote_line, ": a quote is opened and never closed"));
    }
    lines.push_back(std::move(record.cells));
  }
  return lines;
}

}  // namespace dynbench::formats

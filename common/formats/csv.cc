#include "common/formats/csv.h"

#include <utility>

namespace dynbench::formats {

std::vector<CsvRecord> ReadCsv(std::string_view text) {
  std::vector<CsvRecord> records;
  CsvRecord record;
  std::string cell;
  bool quoted = false, any = false;
  const auto end_record = [&](bool ended) {
    if (!cell.empty() && cell.back() == '\r') cell.pop_back();
    if (any || !cell.empty()) {
      record.cells.push_back(std::move(cell));
      record.ended = ended;
      records.push_back(std::move(record));
    }
    record = {};
    cell.clear();
    any = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
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
    } else if (c == ',') {
      record.cells.push_back(std::move(cell));
      cell.clear();
      any = true;
    } else if (c == '\n') {
      end_record(true);
    } else {
      cell += c;
    }
  }
  end_record(false);
  return records;
}

}  // namespace dynbench::formats

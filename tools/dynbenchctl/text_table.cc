#include "tools/dynbenchctl/text_table.h"

#include <algorithm>

#include "common/base/check.h"

namespace dynbench::cli {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

size_t DisplayWidth(std::string_view utf8) {
  return utf8.size() -
         static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), &IsContinuation));
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return line;
}

std::string Shorten(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t points = 0, end = 0;
  while (end < text.size()) {
    if (!IsContinuation(text[end]) && ++points == width) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

void TextTable::AddRow(std::vector<std::string> cells) {
  CHECK_EQ(cells.size(), columns_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render() const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  std::vector<size_t> shown;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0 && !rows_.empty()) continue;
    widths[c] = std::max(widths[c], DisplayWidth(columns_[c].heading));
    shown.push_back(c);
  }
  std::string text;
  auto add_line = [&](auto&& cell_of) {
    std::string line;
    for (size_t c : shown) {
      const std::string& cell = cell_of(c);
      const std::string blanks(widths[c] - DisplayWidth(cell), ' ');
      if (c != shown.front()) line += "  ";
      line += columns_[c].align == Align::kRight ? blanks + cell : cell + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](size_t c) -> const std::string& { return columns_[c].heading; });
  for (const auto& row : rows_) {
    add_line([&](size_t c) -> const std::string& { return row[c]; });
  }
  return text;
}

}  // namespace dynbench::cli

// Aligned text tables for terminals and files: columns as wide as their widest cell, numbers to the
// right, UTF-8 measured by what it takes on the screen, colour and a width limit where wanted.
//
// Cells may hold anything that a model printed: control characters and escape sequences are taken
// out, so nothing in a table can move the cursor. Plain data; thread-compatible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench::formats {

enum class Tone { kPlain, kGood, kBad, kWarning, kDim, kStrong };

struct TableStyle {
  bool colour = false;   // ANSI sequences
  size_t width_max = 0;  // of a line, in columns of the screen; 0: no limit
};

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // Under a width limit, columns with the highest number above 0 are left out first; 0: never.
  int drop_order = 0;
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // A row may be shorter than the header; the rest is empty.
  void AddRow(std::vector<Cell> cells);
  size_t rows() const { return rows_.size(); }

  // Header, a rule and the rows, each line ended by '\n' and without trailing blanks. When it is
  // too wide, droppable columns go, then the first column is cut with "…" down to 12. `left_out`,
  // if given, receives the titles of the columns that went.
  std::string Render(const TableStyle& style, std::vector<std::string>* left_out = nullptr) const;

 private:
  std::vector<size_t> Widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Columns of the screen that the UTF-8 text takes (wide East Asian characters and emoji two,
// combining marks none, an invalid byte one).
size_t DisplayWidth(std::string_view text);

// The text cut to `width` columns, the last one being "…" when something was cut.
std::string Truncate(std::string_view text, size_t width);

// One line without escape sequences and control characters; line breaks and tabs become blanks.
std::string Printable(std::string_view text);

// The text in the tone's colour, or as it is.
std::string Paint(std::string_view text, Tone tone, const TableStyle& style);

}  // namespace dynbench::formats

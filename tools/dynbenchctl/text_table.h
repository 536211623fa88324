// A table of text for people: columns as wide as their widest cell, numbers to the right. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dynbench::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column (CHECKed). Line breaks and control characters in a cell become blanks, so
  // that no model's message can break the layout or drive the terminal.
  void AddRow(std::vector<std::string> cells);

  // Heading and rows, each line ended by a newline and without blanks at its end. Columns whose
  // cells are all empty are left out.
  std::string Render() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Number of code points, which is the width of what we print.
size_t DisplayWidth(std::string_view utf8);

// `text` with control characters and line breaks replaced by blanks.
std::string OneLine(std::string_view text);

// `text` cut to `width` code points, the last one "…" where something was cut.
std::string Shorten(std::string_view text, size_t width);

}  // namespace dynbench::cli

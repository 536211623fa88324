// The pieces that the tables of a comparison are made of. Private to common/formats/compare_*.
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/judge/verdict.h"

namespace dynbench::formats {

struct Section {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> after;  // lines below the table
};

// A title, the table and the lines after it; nothing when it has no rows.
std::string Render(const Section& section, bool markdown, const TableStyle& style);

// Lines as they are, or fenced in markdown.
std::string Block(const std::string& lines, bool markdown);

std::string FromTo(const judge::Judgement& judgement);        // "30.12 → 31.40", "pass → crash"
std::string Change(std::optional<double> share);              // "+4.2%"
std::string IntervalText(const judge::Judgement& judgement);  // "+3.1% to +5.3%"

// "a, b, c and 7 more".
std::string Listed(const std::set<std::string>& words, size_t most);

}  // namespace dynbench::formats

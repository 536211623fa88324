// Shorthand for tables of plain text.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

inline void AddTextRow(formats::TextTable& table, const std::vector<std::string>& texts) {
  std::vector<formats::Cell> cells;
  for (const std::string& text : texts) cells.push_back({text});
  table.AddRow(std::move(cells));
}

// Colour and width as the terminal has them; neither for a pipe.
inline formats::TableStyle StyleOf(const Context& context) {
  const Terminal& terminal = context.terminal;
  return {terminal.color,
          terminal.out_is_terminal ? static_cast<size_t>(terminal.width) : size_t{0}};
}

}  // namespace dynbench::cli

#include "common/formats/text_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace dynbench::formats {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kFirstColumnMin = 12;

struct Range {
  uint32_t first, last;
};
// The blocks that terminals draw two columns wide, and those that they draw over the character
// before; coarse, but right for names of models and messages in every living script we know of.
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1F9FF},
                                         {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 5> kNone = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};

template <size_t N>
bool In(const std::array<Range, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

struct Character {
  size_t bytes;
  size_t width;
};

// The character at the front of `text`, which is not empty.
Character Next(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80       ? 1
                       : lead >> 5 == 6  ? 2
                       : lead >> 4 == 14 ? 3
                       : lead >> 3 == 30 ? 4
                                         : 0;
  if (bytes <= 1 || bytes > text.size()) return {1, 1};
  uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 2) return {1, 1};
    code = code << 6 | (next & 0x3FU);
  }
  return {bytes, In(kNone, code) ? size_t{0} : In(kWide, code) ? size_t{2} : size_t{1}};
}

std::string_view Sequence(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\033[32m";
    case Tone::kBad:
      return "\033[31m";
    case Tone::kWarning:
      return "\033[33m";
    case Tone::kDim:
      return "\033[2m";
    case Tone::kStrong:
      return "\033[1m";
    case Tone::kPlain:
      break;
  }
  return "";
}

// Only characters of one byte and one column each, as nearly all cells are.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

void AppendPainted(std::string_view text, Tone tone, const TableStyle& style, std::string* line) {
  const std::string_view sequence = Sequence(tone);
  if (!style.colour || sequence.empty() || text.empty()) {
    line->append(text);
    return;
  }
  line->append(sequence);
  line->append(text);
  line->append("\033[0m");
}

// Appends the cell, filled up to `width`; a last left-aligned cell is not filled.
void AppendCell(const Cell& cell, size_t width, Align align, bool last, const TableStyle& style,
                std::string* line) {
  std::string cut;
  std::string_view text = cell.text;
  size_t taken = DisplayWidth(text);
  if (taken > width) {
    cut = Truncate(text, width);
    text = cut;
    taken = DisplayWidth(text);
  }
  const size_t fill = width - std::min(width, taken);
  if (align == Align::kRight) line->append(fill, ' ');
  AppendPainted(text, cell.tone, style, line);
  if (align == Align::kLeft && !last) line->append(fill, ' ');
}

// Of what was appended from `begin` on.
void TrimRight(size_t begin, std::string* text) {
  size_t end = text->size();
  while (end > begin && (*text)[end - 1] == ' ') --end;
  text->resize(end);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  if (IsPlain(text)) return text.size();
  size_t width = 0;
  while (!text.empty()) {
    const Character c = Next(text);
    width += c.width;
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string Truncate(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string cut;
  size_t used = 0;
  while (!text.empty()) {
    const Character c = Next(text);
    if (used + c.width > width - 1) break;
    cut.append(text.substr(0, c.bytes));
    used += c.width;
    text.remove_prefix(c.bytes);
  }
  return cut + "…";
}

std::string Printable(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x1B && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;  // up to the sequence's final letter
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else if (c == '\n' || c == '\t') {
      line += ' ';
    } else if (c >= 0x20 && c != 0x7F) {
      line += text[i];
    }
  }
  return line;
}

std::string Paint(std::string_view text, Tone tone, const TableStyle& style) {
  std::string painted;
  AppendPainted(text, tone, style, &painted);
  return painted;
}

void TextTable::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) {
    if (!IsPlain(cell.text)) cell.text = Printable(cell.text);
  }
  rows_.push_back(std::move(cells));
}

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = DisplayWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[c].text));
    widths.push_back(width);
  }
  return widths;
}

std::string TextTable::Render(const TableStyle& style, std::vector<std::string>* left_out) const {
  std::vector<size_t> widths = Widths();
  std::vector<size_t> shown(columns_.size());
  for (size_t c = 0; c < shown.size(); ++c) shown[c] = c;
  const auto total = [&] {
    size_t sum = shown.empty() ? 0 : kGap.size() * (shown.size() - 1);
    for (const size_t c : shown) sum += widths[c];
    return sum;
  };
  while (style.width_max > 0 && total() > style.width_max) {
    const auto drop = std::max_element(shown.begin(), shown.end(), [&](size_t a, size_t b) {
      return columns_[a].drop_order < columns_[b].drop_order;
    });
    if (drop == shown.end() || columns_[*drop].drop_order == 0) break;
    if (left_out != nullptr) left_out->push_back(columns_[*drop].title);
    shown.erase(drop);
  }
  if (style.width_max > 0 && total() > style.width_max && !shown.empty()) {
    const size_t excess = total() - style.width_max;
    size_t& first = widths[shown[0]];
    first = std::max(std::min(first, kFirstColumnMin), first - std::min(first, excess));
  }

  std::string text;
  const auto add_line = [&](auto&& cell_of) {
    const size_t begin = text.size();
    for (size_t i = 0; i < shown.size(); ++i) {
      if (i > 0) text += kGap;
      AppendCell(cell_of(shown[i]), widths[shown[i]], columns_[shown[i]].align,
                 i + 1 == shown.size(), style, &text);
    }
    TrimRight(begin, &text);
    text += '\n';
  };
  add_line([&](size_t c) { return Cell{columns_[c].title, Tone::kStrong}; });
  add_line([&](size_t c) { return Cell{std::string(widths[c], '-'), Tone::kDim}; });
  text.reserve((rows_.size() + 2) * (total() + 1));
  for (const auto& row : rows_) add_line([&](size_t c) -> const Cell& { return row[c]; });
  return text;
}

}  // namespace dynbench::formats

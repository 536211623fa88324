#include "common/formats/compare_sections.h"

#include "common/formats/format_number.h"

namespace dynbench::formats {
namespace {

std::string Value(judge::Metric metric, std::optional<double> value) {
  if (!value) return "-";
  switch (metric) {
    case judge::Metric::kSpeedup:
      return Times(*value);
    case judge::Metric::kCompileSeconds:
      return Fixed(*value, 1);
    case judge::Metric::kMemory:
      return Fixed(*value, 0);
    default:
      return Milliseconds(*value);
  }
}

std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (const char c : Printable(text)) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string MarkdownTable(const Section& section) {
  std::string text = "|", rule = "|";
  for (const Column& column : section.columns) {
    text += " " + MarkdownCell(column.title) + " |";
    rule += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : section.rows) {
    text += "|";
    for (size_t i = 0; i < section.columns.size(); ++i) {
      text += " " + (i < row.size() ? MarkdownCell(row[i].text) : "") + " |";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string Render(const Section& section, bool markdown, const TableStyle& style) {
  if (section.rows.empty()) return "";
  std::string text = "\n";
  if (markdown) {
    text += "**" + section.title + "**\n\n" + MarkdownTable(section);
    for (const std::string& line : section.after) text += "\n" + MarkdownCell(line) + "\n";
    return text;
  }
  TextTable table(section.columns);
  for (const auto& row : section.rows) table.AddRow(row);
  text += Paint(section.title, Tone::kStrong, style) + "\n" + table.Render(style);
  for (const std::string& line : section.after) text += "  " + Printable(line) + "\n";
  return text;
}

std::string Block(const std::string& lines, bool markdown) {
  return markdown ? "\n```\n" + lines + "```\n" : lines;
}

std::string FromTo(const judge::Judgement& j) {
  if (j.metric == judge::Metric::kStatus) return j.base_status + " → " + j.fresh_status;
  return Value(j.metric, j.base) + " → " + Value(j.metric, j.fresh);
}

std::string Change(std::optional<double> share) {
  if (!share) return "";
  return (*share > 0 ? "+" : "") + Percent(*share);
}

std::string IntervalText(const judge::Judgement& j) {
  if (!j.interval) return "";
  return Change(j.interval->low) + " to " + Change(j.interval->high);
}

std::string Listed(const std::set<std::string>& words, size_t most) {
  std::string text;
  size_t count = 0;
  for (const std::string& word : words) {
    if (++count > most) continue;
    text += (text.empty() ? "" : ", ") + word;
  }
  if (words.size() > most) text += " and " + std::to_string(words.size() - most) + " more";
  return text;
}

}  // namespace dynbench::formats

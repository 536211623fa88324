#include "common/formats/compiler_report.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/format_number.h"
#include "common/formats/text_table.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;

constexpr size_t kPhasesShown = 8;
constexpr size_t kLinesShown = 10;
constexpr size_t kLineWidth = 160;

Json Member(const plan::Result& result, const char* key, const Json& otherwise) {
  const Json report = CompilerReport(result);
  const auto found = report.find(key);
  return found != report.end() && found->type() == otherwise.type() ? *found : otherwise;
}

std::string Word(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Text(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : Word(*found);
}

// A stack is a list of frames or their text; each frame a line.
std::string Stack(const Json& entry) {
  const auto found = entry.is_object() ? entry.find("user_stack") : entry.end();
  if (found == entry.end() || !found->is_array()) return Text(entry, "user_stack");
  std::string text;
  for (const Json& frame : *found) text += (text.empty() ? "" : "\n") + Word(frame);
  return text;
}

// "kernel: choice" of each choice that autotuning made.
std::vector<std::string> Choices(const plan::Result& result) {
  const Json autotune = Member(result, "autotune", Json::object());
  std::vector<std::string> lines;
  const auto chosen = autotune.find("chosen");
  if (chosen == autotune.end() || !chosen->is_array()) return lines;
  for (const Json& choice : *chosen) {
    const std::string kernel = Text(choice, "kernel");
    lines.push_back((kernel.empty() ? "" : kernel + ": ") + Text(choice, "choice"));
  }
  return lines;
}

// A list under its title, long ones cut.
std::string Section(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "  " + title + "\n";
  for (size_t i = 0; i < std::min(lines.size(), kLinesShown); ++i) {
    text += "    " + Truncate(Printable(lines[i]), kLineWidth) + "\n";
  }
  if (lines.size() > kLinesShown) {
    text += absl::StrCat("    and ", lines.size() - kLinesShown, " more: --json\n");
  }
  return text;
}

// Each once, with how often it came, in the order of the first.
std::vector<std::string> Counted(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& text : texts) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& entry) { return entry.first == text; });
    if (known == counts.end()) {
      counts.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [text, count] : counts) {
    lines.push_back(count == 1 ? text : absl::StrCat(count, " × ", text));
  }
  return lines;
}

}  // namespace

Json CompilerReport(const plan::Result& result) {
  if (result.compiler_report.empty()) return Json::object();
  Json report = Json::parse(result.compiler_report, nullptr, /*allow_exceptions=*/false);
  return report.is_object() ? report : Json::object();
}

std::map<std::string, double> CompilePhases(const plan::Result& result) {
  std::map<std::string, double> seconds;
  const Json phases = Member(result, "compile_phases_s", Json::object());
  for (const auto& [phase, value] : phases.items()) {
    if (value.is_number()) seconds[phase] = value.get<double>();
  }
  return seconds;
}

std::vector<GraphBreak> GraphBreaks(const plan::Result& result) {
  std::vector<GraphBreak> breaks;
  for (const Json& entry : Member(result, "graph_breaks", Json::array())) {
    GraphBreak graph_break{Text(entry, "reason"), Stack(entry)};
    if (entry.is_string()) graph_break.reason = entry.get<std::string>();
    if (!graph_break.reason.empty()) breaks.push_back(std::move(graph_break));
  }
  return breaks;
}

std::vector<std::string> RecompileReasons(const plan::Result& result) {
  std::vector<std::string> reasons;
  for (const Json& entry : Member(result, "recompile_reasons", Json::array())) {
    reasons.push_back(Word(entry));
  }
  return reasons;
}

std::string CompilerReportText(const plan::Result& result) {
  std::vector<std::pair<double, std::string>> phases;
  for (const auto& [phase, seconds] : CompilePhases(result)) phases.emplace_back(seconds, phase);
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (phases.size() > kPhasesShown) phases.resize(kPhasesShown);
  std::vector<std::string> lines;
  for (const auto& [seconds, phase] : phases) {
    lines.push_back(absl::StrCat(Fixed(seconds, 3), " s  ", phase));
  }
  std::string text = Section("compiler's phases, the longest first (they nest)", lines);
  lines.clear();
  for (const GraphBreak& graph_break : GraphBreaks(result)) lines.push_back(graph_break.reason);
  text += Section("graph breaks", Counted(lines));
  text += Section("recompiled because", Counted(RecompileReasons(result)));
  text += Section("autotuning chose", Choices(result));
  lines.clear();
  const Json explain = Member(result, "explain", Json::object());
  for (const auto& [key, value] : explain.items()) {
    if (!value.is_structured()) lines.push_back(key + ": " + Word(value));
  }
  return text + Section("dynamo explains", lines);
}

}  // namespace dynbench::formats

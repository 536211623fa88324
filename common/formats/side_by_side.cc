#include "common/formats/side_by_side.h"

#include <algorithm>

#include <optional>
#include <tuple>
#include <utility>

#include "common/formats/format_number.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;
using store::ResultRow;

struct Match {
  const ResultRow* first = nullptr;
  const ResultRow* second = nullptr;
  const plan::Experiment& experiment() const {
    return first != nullptr ? first->experiment : second->experiment;
  }
};

bool SameSubject(const plan::Experiment& a, const plan::Experiment& b) {
  return std::tie(a.suite, a.model, a.mode, a.test) == std::tie(b.suite, b.model, b.mode, b.test);
}

// In the order of the first side; what only the second has comes last.
std::vector<Match> Matches(const Side& first, const Side& second) {
  std::vector<Match> matches;
  for (const ResultRow& row : *first.rows) matches.push_back({&row, nullptr});
  for (const ResultRow& row : *second.rows) {
    const auto found = std::find_if(matches.begin(), matches.end(), [&](const Match& match) {
      return match.second == nullptr && SameSubject(match.experiment(), row.experiment);
    });
    if (found != matches.end()) {
      found->second = &row;
    } else {
      matches.push_back({nullptr, &row});
    }
  }
  return matches;
}

std::optional<double> LatencyMs(const ResultRow* row) {
  if (row == nullptr || !row->result || row->result->outcome != plan::Outcome::kPassed) {
    return std::nullopt;
  }
  return row->result->metrics.abs_latency_ms;
}

std::string Word(const ResultRow* row) {
  if (row == nullptr) return "not planned";
  if (!row->result) return row->state;
  return row->result->status.empty() ? std::string(plan::ToString(row->result->outcome))
                                     : row->result->status;
}

std::optional<double> SlowerPercent(const Match& match) {
  const auto first = LatencyMs(match.first), second = LatencyMs(match.second);
  if (!first || !second || *first <= 0) return std::nullopt;
  return (*second / *first - 1) * 100;
}

Cell SideCell(const ResultRow* row) {
  const auto ms = LatencyMs(row);
  return ms ? Cell{Milliseconds(*ms) + " ms"} : Cell{Word(row), Tone::kDim};
}

Json SideJson(const ResultRow* row) {
  const auto ms = LatencyMs(row);
  return {{"id", row == nullptr ? Json(nullptr) : Json(row->id.value)},
          {"status", Word(row)},
          {"abs_latency_ms", ms ? Json(*ms) : Json(nullptr)}};
}

}  // namespace

std::string SideBySideTable(const Side& first, const Side& second, const TableStyle& style) {
  TextTable table({{"model", Align::kLeft, 0},
                   {"mode", Align::kLeft, 2},
                   {"test", Align::kLeft, 1},
                   {first.name, Align::kRight, 0},
                   {second.name, Align::kRight, 0},
                   {second.name + " is slower by", Align::kRight, 0}});
  for (const Match& match : Matches(first, second)) {
    const plan::Experiment& e = match.experiment();
    const auto percent = SlowerPercent(match);
    // Upstream's gate calls more than one percent a regression.
    const Tone tone = percent && *percent > 1 ? Tone::kWarning : Tone::kPlain;
    table.AddRow({{e.model},
                  {std::string(plan::ToString(e.mode))},
                  {std::string(plan::ToString(e.test))},
                  SideCell(match.first),
                  SideCell(match.second),
                  percent ? Cell{Fixed(*percent, 1) + "%", tone} : Cell{"-", Tone::kDim}});
  }
  return table.Render(style);
}

Json SideBySideJson(const Side& first, const Side& second) {
  Json list = Json::array();
  for (const Match& match : Matches(first, second)) {
    const plan::Experiment& e = match.experiment();
    const auto percent = SlowerPercent(match);
    list.push_back({{"model", e.model},
                    {"mode", std::string(plan::ToString(e.mode))},
                    {"test", std::string(plan::ToString(e.test))},
                    {first.name, SideJson(match.first)},
                    {second.name, SideJson(match.second)},
                    {"slower_percent", percent ? Json(*percent) : Json(nullptr)}});
  }
  return list;
}

}  // namespace dynbench::formats

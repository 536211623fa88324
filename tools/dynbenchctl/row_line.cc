#include "tools/dynbenchctl/row_line.h"

#include <algorithm>

#include "common/formats/result_line.h"
#include "common/formats/results_json.h"

namespace dynbench::cli {
namespace {

using plan::Experiment;

constexpr size_t kWordWidth = 9;  // "cancelled"

formats::Tone ToneOf(const RowView& view) {
  if (IsFailure(view)) return formats::Tone::kBad;
  const bool passed = view.row.result && view.row.result->outcome == plan::Outcome::kPassed;
  return passed ? formats::Tone::kGood : formats::Tone::kDim;
}

// What a reader of one line could not know otherwise.
std::string UnusualWords(const Experiment& e) {
  const Experiment usual;
  std::vector<std::string> words;
  if (e.mode != usual.mode) words.emplace_back(ToString(e.mode));
  if (e.configuration != usual.configuration) words.push_back(e.configuration);
  if (e.environment != usual.environment) words.push_back("environment " + e.environment);
  if (e.profile != usual.profile) words.push_back("profile " + e.profile);
  if (e.start != usual.start) words.emplace_back(ToString(e.start));
  if (e.pair > 0) words.push_back("round " + std::to_string(e.round) + " " + e.side);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? " [" : ", ") + word;
  return text.empty() ? text : text + "]";
}

}  // namespace

bool IsFailure(const RowView& view) {
  return view.row.result && (view.row.result->outcome == plan::Outcome::kFailed ||
                             view.row.result->outcome == plan::Outcome::kLost);
}

std::string OutcomeWord(const RowView& view) {
  return view.row.result ? std::string(ToString(view.row.result->outcome)) : view.row.state;
}

std::string RowLine(const RowView& view, const formats::TableStyle& style) {
  const Experiment& e = view.row.experiment;
  std::string word = OutcomeWord(view);
  word.resize(std::max(word.size(), kWordWidth), ' ');
  std::string line = formats::Paint(word, ToneOf(view), style) + " ";
  const auto outcome = view.row.result ? view.row.result->outcome : plan::Outcome::kPassed;
  if (outcome == plan::Outcome::kSkipped || outcome == plan::Outcome::kCancelled) {
    const std::string& reason = e.reason.empty() ? view.row.result->error : e.reason;
    line += e.model + " " + std::string(ToString(e.test));
    if (!reason.empty()) line += ": " + formats::Printable(reason);
  } else if (view.row.result) {
    line += formats::ResultLine(view.row, style);
  } else {
    line += e.model + " " + std::string(ToString(e.test));
    if (!view.phase.empty()) line += ": " + view.phase;
  }
  return line + UnusualWords(e);
}

std::vector<store::ResultRow> StoreRows(const std::vector<RowView>& rows) {
  std::vector<store::ResultRow> stored;
  stored.reserve(rows.size());
  for (const RowView& view : rows) stored.push_back(view.row);
  return stored;
}

std::vector<store::ResultRow> StoreRows(std::vector<RowView>&& rows) {
  std::vector<store::ResultRow> stored;
  stored.reserve(rows.size());
  for (RowView& view : rows) stored.push_back(std::move(view.row));
  return stored;
}

nlohmann::json ResultsJson(const JobView& job, const std::vector<RowView>& rows) {
  nlohmann::json json = formats::ResultsJson(job.job, StoreRows(rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    json["results"][i]["experiment"]["id"] = rows[i].row.id.value;
    if (!rows[i].row.result && !rows[i].phase.empty()) json["results"][i]["phase"] = rows[i].phase;
  }
  return json;
}

}  // namespace dynbench::cli

#include "common/formats/results_sections.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/error_clusters.h"
#include "common/formats/result_line.h"
#include "common/formats/results_words.h"

namespace dynbench::formats {
namespace {

using plan::Outcome;
using store::ResultRow;

// From this many models on, failures with one error are one line.
constexpr size_t kClusterModels = 3;

// The model and, if the job varies them, its words: "repvgg_a2 performance cudagraphs".
std::string Subject(const ResultRow& row, const std::vector<bool>& varies) {
  std::string text =
      absl::StrCat(row.experiment.model, " ", std::string(plan::ToString(row.experiment.test)));
  ResultsWords words;
  const size_t number = words.Of(row.experiment);
  for (size_t d = 0; d < varies.size(); ++d) {
    if (varies[d]) text += " " + words.words(number)[d];
  }
  return text;
}

}  // namespace

std::string Failures(const store::JobRow& job, const std::vector<ResultRow>& rows,
                     const std::vector<bool>& varies, const TableStyle& style) {
  const std::vector<ErrorCluster> clusters = ClusterErrors(rows);
  std::string text = ClusterLines(clusters, kClusterModels);
  std::set<const ResultRow*> told;
  for (const ErrorCluster& cluster : clusters) {
    if (cluster.models.size() >= kClusterModels) {
      told.insert(cluster.rows.begin(), cluster.rows.end());
    }
  }
  const ResultRow* first = nullptr;
  for (const ResultRow& row : rows) {
    if (!row.result) continue;
    const Outcome outcome = row.result->outcome;
    if (outcome != Outcome::kFailed && outcome != Outcome::kLost) continue;
    if (first == nullptr) first = &row;
    if (told.contains(&row)) continue;
    text += absl::StrCat("  ", Paint(Printable(Subject(row, varies)), Tone::kStrong, style), ": ",
                         Printable(FailureText(*row.result)), "\n");
  }
  if (first == nullptr) return "";
  return absl::StrCat("\n", Paint("failed or lost", Tone::kBad, style), "\n", text,
                      "  more: dynbenchctl logs ", job.id.value, " ", first->experiment.model,
                      "\n");
}

std::string Reasons(const std::vector<ResultRow>& rows, Outcome outcome, const TableStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const ResultRow& row : rows) {
    if (!row.result || row.result->outcome != outcome) continue;
    std::string reason = row.experiment.reason.empty() ? row.result->error : row.experiment.reason;
    if (reason.empty()) reason = "no reason was given";
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& entry) { return entry.first == reason; });
    auto& models = known != reasons.end()
                       ? known->second
                       : reasons.emplace_back(reason, std::vector<std::string>()).second;
    models.push_back(row.experiment.model);
  }
  if (reasons.empty()) return "";
  std::string text =
      absl::StrCat("\n", Paint(std::string(plan::ToString(outcome)), Tone::kStrong, style), "\n");
  for (const auto& [reason, models] : reasons) {
    const std::set<std::string> names(models.begin(), models.end());
    text += absl::StrCat("  ",
                         names.size() == 1 ? *names.begin() : absl::StrCat(names.size(), " models"),
                         " (", models.size(), "): ", Printable(reason), "\n");
  }
  return text;
}

std::string Notes(const std::vector<ResultRow>& rows, const std::vector<bool>& varies,
                  const TableStyle& style) {
  std::string text;
  for (const ResultRow& row : rows) {
    if (!row.result) continue;
    for (const std::string& note : row.result->notes) {
      text += absl::StrCat("  ", Printable(Subject(row, varies)), ": ", Printable(note), "\n");
    }
  }
  return text.empty() ? "" : absl::StrCat("\n", Paint("notes", Tone::kWarning, style), "\n", text);
}

}  // namespace dynbench::formats

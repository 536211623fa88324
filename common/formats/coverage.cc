#include "common/formats/coverage.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/result_line.h"
#include "common/formats/results_json.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;
using plan::Outcome;

constexpr char kLeftOut[] = "left out by the names, filters or partition of the submission";

void Count(const store::ResultRow& row, store::Coverage* counts) {
  ++counts->planned;
  if (!row.result) {
    ++(row.state == "running" ? counts->running : counts->waiting);
    return;
  }
  switch (row.result->outcome) {
    case Outcome::kPassed:
      ++counts->passed;
      break;
    case Outcome::kFailed:
      ++counts->failed;
      break;
    case Outcome::kSkipped:
      ++counts->skipped;
      break;
    case Outcome::kLost:
      ++counts->lost;
      break;
    case Outcome::kCancelled:
      ++counts->cancelled;
      break;
  }
}

std::string StateOf(const store::Coverage& c) {
  if (c.passed + c.failed + c.lost > 0) return "ran";
  if (c.running > 0) return "running";
  if (c.waiting > 0) return "waiting";
  return c.skipped > 0 ? "skipped" : "cancelled";
}

// The reasons of a model's skipped and cancelled rows, each once.
std::string ReasonsOf(const std::vector<const store::ResultRow*>& rows) {
  std::string text;
  std::set<std::string> known;
  for (const store::ResultRow* row : rows) {
    if (!row->result) continue;
    const Outcome outcome = row->result->outcome;
    if (outcome != Outcome::kSkipped && outcome != Outcome::kCancelled) continue;
    const std::string& reason =
        row->experiment.reason.empty() ? row->result->error : row->experiment.reason;
    if (!reason.empty() && known.insert(reason).second) {
      text += (text.empty() ? "" : "; ") + reason;
    }
  }
  return text;
}

std::string Counts(const store::Coverage& c) {
  std::string text;
  for (const auto& [count, word] :
       std::vector<std::pair<int64_t, const char*>>{{c.passed, "passed"},
                                                    {c.failed, "failed"},
                                                    {c.skipped, "skipped"},
                                                    {c.lost, "lost"},
                                                    {c.cancelled, "cancelled"},
                                                    {c.running, "running"},
                                                    {c.waiting, "waiting"}}) {
    if (count > 0) text += absl::StrCat(text.empty() ? "" : ", ", count, " ", word);
  }
  return text;
}

}  // namespace

std::vector<ModelCoverage> CoverageOfModels(const std::vector<store::ResultRow>& rows,
                                            const std::vector<std::string>& suite_models,
                                            const std::vector<std::string>& asked) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const store::ResultRow*>> by_model;
  for (const store::ResultRow& row : rows) {
    auto& its_rows = by_model[row.experiment.model];
    if (its_rows.empty()) order.push_back(row.experiment.model);
    its_rows.push_back(&row);
  }
  std::vector<ModelCoverage> models;
  std::set<std::string> known;
  for (const std::string& model : order) {
    ModelCoverage entry{model, "", "", {}};
    for (const store::ResultRow* row : by_model[model]) Count(*row, &entry.counts);
    entry.state = StateOf(entry.counts);
    entry.reason = ReasonsOf(by_model[model]);
    known.insert(model);
    models.push_back(std::move(entry));
  }
  for (const std::string& model : suite_models) {
    if (known.insert(model).second) models.push_back({model, "not planned", kLeftOut, {}});
  }
  for (const std::string& model : asked) {
    if (known.insert(model).second) models.push_back({model, "not in suite", "", {}});
  }
  return models;
}

std::string CoverageTable(const store::JobRow& job, const std::vector<ModelCoverage>& models,
                          const TableStyle& style) {
  std::map<std::string, int64_t> states;
  TextTable table({{"model", Align::kLeft, 0},
                   {"state", Align::kLeft, 0},
                   {"experiments", Align::kLeft, 1},
                   {"reason", Align::kLeft, 0}});
  for (const ModelCoverage& model : models) {
    ++states[model.state];
    const Tone tone = model.state == "ran"            ? Tone::kGood
                      : model.state == "not in suite" ? Tone::kBad
                                                      : Tone::kDim;
    table.AddRow({{model.model}, {model.state, tone}, {Counts(model.counts)}, {model.reason}});
  }
  std::string text =
      Paint(absl::StrCat("job ", job.id.value, ": coverage of ", job.suite), Tone::kStrong, style) +
      "\n\n" + table.Render(style) + "\n";
  std::string sums;
  for (const char* state :
       {"ran", "running", "waiting", "skipped", "cancelled", "not planned", "not in suite"}) {
    if (states[state] > 0) {
      sums += absl::StrCat(sums.empty() ? "" : ", ", states[state], " ", state);
    }
  }
  return absl::StrCat(text, models.size(), " models: ", sums, "\n", CoverageLine(job.coverage),
                      "\n");
}

Json CoverageOfModelsJson(const store::JobRow& job, const std::vector<ModelCoverage>& models) {
  Json list = Json::array();
  for (const ModelCoverage& model : models) {
    list.push_back({{"model", model.model},
                    {"state", model.state},
                    {"reason", model.reason},
                    {"experiments", CoverageJson(model.counts)}});
  }
  return {{"schema", "dynbench.coverage/1"},
          {"job", job.id.value},
          {"suite", job.suite},
          {"coverage", CoverageJson(job.coverage)},
          {"models", std::move(list)}};
}

}  // namespace dynbench::formats

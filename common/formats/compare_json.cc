#include "common/formats/compare_json.h"

#include <optional>
#include <vector>

#include "common/formats/csv.h"
#include "common/formats/format_number.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;
using judge::Comparison;
using judge::Judgement;

Json SubjectJson(const plan::Experiment& e) {
  return {{"suite", e.suite},
          {"model", e.model},
          {"mode", std::string(plan::ToString(e.mode))},
          {"test", std::string(plan::ToString(e.test))},
          {"configuration", e.configuration},
          {"precision", std::string(plan::ToString(e.precision))},
          {"device", e.device},
          {"start", std::string(plan::ToString(e.start))},
          {"profile", e.profile}};
}

void Put(Json* json, const char* key, std::optional<double> value) {
  if (value) (*json)[key] = *value;
}

Json DifferenceJson(const judge::Difference& d) {
  return {{"field", d.field}, {"base", d.base}, {"new", d.fresh}, {"blocks", d.blocks}};
}

Json ResultJson(const Comparison& comparison, const Judgement& j) {
  const judge::Pair& pair = comparison.pairing.pairs[j.pair];
  Json json = {{"experiment", SubjectJson(pair.experiment)},
               {"metric", std::string(ToString(j.metric))},
               {"verdict", std::string(ToString(j.verdict))},
               {"reason", j.reason},
               {"base_processes", j.base_processes},
               {"new_processes", j.fresh_processes},
               {"same_host", pair.same_host}};
  if (pair.paired) {
    json["rounds"] = pair.rounds.size();
    json["ended"] = pair.ended;
  }
  if (j.metric == judge::Metric::kStatus) {
    json["base_status"] = j.base_status;
    json["new_status"] = j.fresh_status;
    if (j.steadiness) {
      json["flips"] = j.steadiness->flips;
      json["flips_of"] = j.steadiness->nights;
      json["outcomes"] = j.steadiness->outcomes;
      json["unsteady"] = j.unsteady;
    }
  } else {
    json["unit"] = std::string(InfoOf(j.metric).unit);
  }
  Put(&json, "base", j.base);
  Put(&json, "new", j.fresh);
  Put(&json, "change", j.change);
  if (j.interval) json["interval"] = {j.interval->low, j.interval->high};
  Put(&json, "p", j.p);
  Put(&json, "q", j.q);
  Put(&json, "needed", j.needed);
  Put(&json, "noise", j.noise);
  if (j.moved != judge::Moved::kNone) json["moved"] = std::string(ToString(j.moved));
  if (!pair.differences.empty()) {
    json["differences"] = Json::array();
    for (const auto& d : pair.differences) json["differences"].push_back(DifferenceJson(d));
  }
  return json;
}

Json CellJson(const judge::SummaryCell& cell) {
  Json json = {{"table", std::string(ToString(cell.table))},
               {"configuration", cell.configuration},
               {"suite", cell.suite},
               {"n", cell.count},
               {"left_out", cell.left_out}};
  Put(&json, "base", cell.base);
  Put(&json, "new", cell.fresh);
  if (cell.table == judge::Table::kPassRate) {
    json["base_passed"] = cell.base_passed;
    json["new_passed"] = cell.fresh_passed;
  }
  Put(&json, "ratio", cell.ratio);
  if (cell.ratio_interval) {
    json["ratio_interval"] = {cell.ratio_interval->low, cell.ratio_interval->high};
  }
  return json;
}

Json RulesJson(const judge::Options& options) {
  Json metrics = Json::array();
  for (const judge::MetricInfo& info : judge::AllMetrics()) {
    if (!options.metrics.empty() && !options.metrics.contains(info.metric)) continue;
    Json json = {{"metric", std::string(info.word)}, {"unit", std::string(info.unit)}};
    if (info.metric != judge::Metric::kStatus) {
      json["absolute_floor"] = info.absolute_floor;
      json["resolution"] = info.resolution;
      json["one_process_factor"] = info.one_process_factor;
    }
    metrics.push_back(std::move(json));
  }
  return {{"threshold", options.rules.threshold},
          {"false_discovery_rate", options.rules.false_discovery_rate},
          {"confidence", options.rules.confidence},
          {"allow_incomparable", options.rules.allow_incomparable},
          {"metrics", std::move(metrics)}};
}

bool Shown(const Comparison& comparison, judge::Metric metric) {
  return comparison.options.metrics.empty() || comparison.options.metrics.contains(metric);
}

std::string Number(std::optional<double> value, int decimals) {
  return value ? Fixed(*value, decimals) : "";
}

std::string PercentOf(std::optional<double> share) { return share ? Fixed(*share * 100, 3) : ""; }

std::vector<std::string> Subject(const plan::Experiment& e) {
  return {e.suite,
          e.model,
          std::string(plan::ToString(e.mode)),
          std::string(plan::ToString(e.test)),
          e.configuration,
          std::string(plan::ToString(e.precision)),
          e.device};
}

std::string Probability(std::optional<double> p) { return p ? Json(*p).dump() : ""; }

}  // namespace

Json CompareJson(const Comparison& comparison) {
  Json json = {
      {"schema", "dynbench.compare/1"},
      {"base", comparison.base_name},
      {"new", comparison.fresh_name},
      {"rules", RulesJson(comparison.options)},
      {"gate",
       {{"state", std::string(ToString(comparison.gate))}, {"reason", comparison.gate_reason}}},
      {"pair_job", comparison.pair_job},
      {"notes", comparison.notes},
      {"common", comparison.pairing.pairs.size()}};
  for (const char* key : {"software", "summary", "findings", "results", "left_out"}) {
    json[key] = Json::array();
  }
  for (const auto& d : comparison.software) {
    json["software"].push_back({{"field", d.field}, {"base", d.base}, {"new", d.fresh}});
  }
  for (const auto& cell : comparison.summary) json["summary"].push_back(CellJson(cell));
  for (const judge::Finding& finding : comparison.findings) {
    Json one = ResultJson(comparison, comparison.judgements[finding.judgement]);
    one["level"] = finding.level == judge::Level::kRed ? "red" : "notice";
    json["findings"].push_back(std::move(one));
  }
  for (const Judgement& j : comparison.judgements) {
    if (Shown(comparison, j.metric)) json["results"].push_back(ResultJson(comparison, j));
  }
  for (const judge::LeftOut& left_out : comparison.pairing.left_out) {
    json["left_out"].push_back(
        {{"experiment", SubjectJson(left_out.experiment)}, {"reason", left_out.reason}});
  }
  return json;
}

std::string CompareCsv(const Comparison& comparison) {
  std::string csv =
      CsvLine({"suite",     "model",          "mode",          "test",           "configuration",
               "precision", "device",         "metric",        "unit",           "base",
               "new",       "change_percent", "low_percent",   "high_percent",   "p",
               "q",         "needed_percent", "noise_percent", "base_processes", "new_processes",
               "verdict",   "moved",          "reason",        "start",          "profile"});
  for (const Judgement& j : comparison.judgements) {
    if (!Shown(comparison, j.metric)) continue;
    const plan::Experiment& e = comparison.pairing.pairs[j.pair].experiment;
    std::vector<std::string> cells = Subject(e);
    const bool status = j.metric == judge::Metric::kStatus;
    for (std::string cell :
         {std::string(ToString(j.metric)), std::string(InfoOf(j.metric).unit),
          status ? j.base_status : Number(j.base, 6), status ? j.fresh_status : Number(j.fresh, 6),
          PercentOf(j.change), j.interval ? PercentOf(j.interval->low) : "",
          j.interval ? PercentOf(j.interval->high) : "", Probability(j.p), Probability(j.q),
          PercentOf(j.needed), PercentOf(j.noise), std::to_string(j.base_processes),
          std::to_string(j.fresh_processes), std::string(ToString(j.verdict)),
          std::string(ToString(j.moved)), j.reason, std::string(plan::ToString(e.start)),
          e.profile}) {
      cells.push_back(std::move(cell));
    }
    csv += CsvLine(cells);
  }
  for (const judge::LeftOut& left_out : comparison.pairing.left_out) {
    std::vector<std::string> cells = Subject(left_out.experiment);
    cells.resize(20);
    cells.insert(cells.end(), {"left_out", "", left_out.reason,
                               std::string(plan::ToString(left_out.experiment.start)),
                               left_out.experiment.profile});
    csv += CsvLine(cells);
  }
  return csv;
}

}  // namespace dynbench::formats

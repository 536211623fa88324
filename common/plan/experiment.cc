#include "common/plan/experiment.h"

#include <utility>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/experiment_fields.h"
#include "common/plan/json_fields.h"

namespace dynbench::plan {
namespace {

using internal::Json;

Json ToJsonObject(const Experiment& experiment) { return internal::WriteFields(experiment); }

// Without the fields that have their default, so that a field which a later version adds does not
// cut a series.
Json DropDefaults(const Json& object, const Json& defaults) {
  Json kept = Json::object();
  for (const auto& [key, value] : object.items()) {
    const auto it = defaults.find(key);
    if (it != defaults.end() && value.is_object() && it->is_object()) {
      Json inner = DropDefaults(value, *it);
      if (!inner.empty()) kept[key] = std::move(inner);
    } else if (it == defaults.end() || value != *it) {
      kept[key] = value;
    }
  }
  return kept;
}

// Where and when it ran is not what was measured.
constexpr std::string_view kNotInSeries[] = {"environment",
                                             "partition",
                                             "output",
                                             "planned_outcome",
                                             "reason",
                                             "timeout_ms",
                                             "pair",
                                             "round",
                                             "side",
                                             "zygote",
                                             "target_precision",
                                             "precision_budget_ms"};

}  // namespace

std::string ToJson(const Experiment& experiment) { return ToJsonObject(experiment).dump(); }

absl::StatusOr<Experiment> ExperimentFromJson(std::string_view text) {
  Json json;
  RETURN_IF_ERROR(internal::ParseJson(text, "experiment", &json));
  Experiment experiment;
  // Experiments outlive the version that planned them: a field that came later has its default.
  RETURN_IF_ERROR(
      internal::ReadFields(json, internal::Missing::kKeepsDefault, "experiment", &experiment));
  return experiment;
}

nlohmann::json ToPublicJson(const Experiment& e) {
  Json json = {
      {"suite", e.suite},
      {"model", e.model},
      {"mode", ToString(e.mode)},
      {"test", ToString(e.test)},
      {"configuration", e.configuration},
      {"precision", ToString(e.precision)},
      {"device", e.device},
      {"environment", e.environment},
      {"profile", e.profile},
      {"start", ToString(e.start)},
      {"batch_size", e.batch_size},
      {"partition", e.partition},
      {"output", e.output},
      {"options", internal::WriteFields(e.options)},
      {"tolerance", nullptr},
      {"weights", ToString(e.weights)},
      {"repeat", e.repeat},
      {"threads", e.threads},
      {"effective_precision", ToString(e.effective_precision)},
      {"optimizer", e.optimizer},
      {"engine", e.engine},
      {"outcome", nullptr},
      {"reason", e.reason},
  };
  if (e.test == Test::kAccuracy) json["tolerance"] = e.accuracy.tolerance;
  if (!e.command.empty()) json["command"] = e.command;
  if (e.target_precision > 0) {
    json["target_precision"] = e.target_precision;
    json["precision_budget_s"] = static_cast<double>(e.precision_budget_ms) / 1e3;
  }
  if (e.pair > 0) {
    json["pair"] = e.pair;
    json["round"] = e.round;
    json["side"] = e.side;
    json["zygote"] = e.zygote;
  }
  if (e.planned_outcome) json["outcome"] = ToString(*e.planned_outcome);
  return json;
}

std::string SeriesKey(const Experiment& experiment) {
  static const auto* const defaults = new Json(ToJsonObject(Experiment()));
  Json series = DropDefaults(ToJsonObject(experiment), *defaults);
  for (const std::string_view name : kNotInSeries) series.erase(std::string(name));
  // Its flags stand for fields that are in it, or select models; its folder is the host's.
  if (experiment.engine == "script") series.erase("command");
  return Sha256Hex(series.dump()).substr(0, 16);
}

std::string DisplayName(const Experiment& e) {
  std::string name = absl::StrCat(e.suite, "/", e.model, " ", std::string(ToString(e.mode)), " ",
                                  std::string(ToString(e.test)), " ",
                                  std::string(ToString(e.precision)), " ", e.configuration);
  if (e.pair > 0) absl::StrAppend(&name, ", round ", e.round, " ", e.side);
  return name;
}

}  // namespace dynbench::plan

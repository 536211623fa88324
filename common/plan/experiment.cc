#include "common/plan/experiment.h"

#include <type_traits>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/experiment_fields.h"
#include "common/plan/json_fields.h"

namespace dynbench::plan {
namespace {

using internal::Json;

Json ToJsonObject(const Experiment& experiment) { return internal::WriteFields(experiment); }

}  // namespace

std::string ToJson(const Experiment& experiment) { return ToJsonObject(experiment).dump(); }

absl::StatusOr<Experiment> ExperimentFromJson(std::string_view text) {
  Json json;
  RETURN_IF_ERROR(internal::ParseJson(text, "experiment", &json));
  Experiment experiment;
  RETURN_IF_ERROR(
      internal::ReadFields(json, internal::Missing::kIsError, "experiment", &experiment));
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
      {"outcome", nullptr},
      {"reason", e.reason},
  };
  if (e.test == Test::kAccuracy) json["tolerance"] = e.accuracy.tolerance;
  if (e.planned_outcome) json["outcome"] = ToString(*e.planned_outcome);
  return json;
}

std::string SeriesKey(const Experiment& experiment) {
  Json json = ToJsonObject(experiment);
  for (const char* not_part_of_it :
       {"environment", "partition", "output", "planned_outcome", "reason", "timeout_ms"}) {
    json.erase(not_part_of_it);
  }
  return Sha256Hex(json.dump()).substr(0, 16);
}

std::string DisplayName(const Experiment& e) {
  return absl::StrCat(e.suite, "/", e.model, " ", std::string(ToString(e.mode)), " ",
                      std::string(ToString(e.test)), " ", std::string(ToString(e.precision)), " ",
                      e.configuration);
}

}  // namespace dynbench::plan

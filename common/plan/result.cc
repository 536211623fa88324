#include "common/plan/result.h"

#include "common/base/status.h"
#include "common/plan/json_fields.h"
#include "common/plan/metric_fields.h"

namespace dynbench::plan {

// Not in an anonymous namespace: json_fields.h finds these by argument-dependent lookup.

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Metrics>
void VisitFields(S& metrics, Visit&& visit) { ForEachMetric(metrics, visit); }

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, PhaseSpan>
void VisitFields(S& span, Visit&& visit) {
  visit("phase", span.phase);
  visit("duration_ns", span.duration_ns);
  visit("frozen_ns", span.frozen_ns);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, StartProof>
void VisitFields(S& proof, Visit&& visit) {
  visit("cache_files_before", proof.cache_files_before);
  visit("cache_hits", proof.cache_hits);
  visit("cache_misses", proof.cache_misses);
  visit("proven", proof.proven);
}

template <typename S, typename Visit>
requires std::is_same_v<std::remove_const_t<S>, Result>
void VisitFields(S& r, Visit&& visit) {
  visit("outcome", r.outcome);
  visit("status", r.status);
  visit("phase", r.phase);
  visit("blame", r.blame);
  visit("error", r.error);
  visit("detail", r.detail);
  visit("exit_code", r.exit_code);
  visit("exit_signal", r.exit_signal);
  visit("batch_size", r.batch_size);
  visit("weights", r.weights);
  visit("threads", r.threads);
  visit("cores", r.cores);
  visit("accuracy_rule", r.accuracy_rule);
  visit("accuracy_function_hash", r.accuracy_function_hash);
  visit("metrics", r.metrics);
  visit("phases", r.phases);
  visit("eager_ns", r.eager_ns);
  visit("compiled_ns", r.compiled_ns);
  visit("start_proof", r.start_proof);
  visit("in_force", r.in_force);
  visit("notes", r.notes);
  visit("compiler_report", r.compiler_report);
  visit("artifacts", r.artifacts);
}

namespace internal {

template <typename S>
requires std::is_same_v<S, Metrics> || std::is_same_v<S, PhaseSpan> || std::is_same_v<S, StartProof>
struct Codec<S> {
  static Json Write(const S& value) { return WriteFields(value); }
  static bool Read(const Json& json, S* value) {
    return ReadFields(json, Missing::kKeepsDefault, "", value).ok();
  }
};

}  // namespace internal

absl::StatusOr<Result> ResultFromRunnerJson(const nlohmann::json& message) {
  internal::Json fields = message;
  if (fields.is_object()) fields.erase("type");
  Result result;
  RETURN_IF_ERROR(
      internal::ReadFields(fields, internal::Missing::kKeepsDefault, "result", &result));
  return result;
}

nlohmann::json MetricsToJson(const Metrics& metrics) {
  internal::Json json = internal::Json::object();
  ForEachMetric(metrics, [&](const char* name, const auto& field) {
    if (field) json[name] = *field;
  });
  return json;
}

}  // namespace dynbench::plan

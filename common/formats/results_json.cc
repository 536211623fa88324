#include "common/formats/results_json.h"

#include <utility>

#include "common/plan/result.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;

// A point in time, or null when it has not come.
Json TimeJson(UnixTimeMs time) { return time.ms == 0 ? Json(nullptr) : Json(time.ms); }

Json JobJson(const store::JobRow& job) {
  return {{"id", job.id.value},
          {"state", job.state},
          {"suite", job.suite},
          {"label", job.label},
          {"user", job.user},
          {"cancel_reason", job.cancel_reason},
          {"retries", job.retries ? Json(job.retries.value) : Json(nullptr)},
          {"submitted_unix_ms", TimeJson(job.submitted_at)},
          {"finished_unix_ms", TimeJson(job.finished_at)}};
}

Json PhasesJson(const plan::Result& result) {
  Json phases = Json::array();
  for (const plan::PhaseSpan& span : result.phases) {
    phases.push_back({{"phase", std::string(plan::ToString(span.phase))},
                      {"duration_s", static_cast<double>(span.duration_ns) / 1e9},
                      {"frozen_s", static_cast<double>(span.frozen_ns) / 1e9}});
  }
  return phases;
}

// Adds what the result says to `json`.
void AddResult(const plan::Result& result, Json* json) {
  Json& j = *json;
  j["outcome"] = std::string(plan::ToString(result.outcome));
  j["status"] = result.status;
  j["phase"] = std::string(plan::ToString(result.phase));
  j["blame"] = std::string(plan::ToString(result.blame));
  j["error"] = result.error;
  j["detail"] = result.detail;
  j["exit_code"] = result.exit_code;
  j["exit_signal"] = result.exit_signal;
  j["batch_size"] = result.batch_size;
  j["weights"] = result.weights;
  j["threads"] = result.threads;
  j["cores"] = result.cores;
  j["accuracy_rule"] = result.accuracy_rule;
  j["accuracy_function_hash"] = result.accuracy_function_hash;
  j["metrics"] = plan::MetricsToJson(result.metrics);
  j["phases"] = PhasesJson(result);
  j["start_proof"] = {{"cache_files_before", result.start_proof.cache_files_before},
                      {"cache_hits", result.start_proof.cache_hits},
                      {"cache_misses", result.start_proof.cache_misses},
                      {"proven", result.start_proof.proven}};
  j["in_force"] = result.in_force;
  j["notes"] = result.notes;
  j["artifacts"] = result.artifacts;
  if (!result.compiler_report.empty()) {
    const nlohmann::json report =
        nlohmann::json::parse(result.compiler_report, nullptr, /*allow_exceptions=*/false);
    if (!report.is_discarded()) j["compiler_report"] = report;
  }
  if (!result.eager_ns.empty() || !result.compiled_ns.empty()) {
    j["samples"] = {{"eager_ns", result.eager_ns}, {"compiled_ns", result.compiled_ns}};
  }
}

}  // namespace

Json CoverageJson(const store::Coverage& c) {
  return {{"planned", c.planned}, {"passed", c.passed},  {"failed", c.failed},
          {"skipped", c.skipped}, {"lost", c.lost},      {"cancelled", c.cancelled},
          {"waiting", c.waiting}, {"running", c.running}};
}

Json PlanJson(const plan::Plan& plan, std::optional<double> expected_s,
              const std::vector<std::string>& placements, std::optional<double> expected_p90_s) {
  Json experiments = Json::array();
  int64_t skipped = 0;
  for (const plan::Experiment& e : plan.experiments) {
    experiments.push_back(plan::ToPublicJson(e));
    skipped += e.planned_outcome == plan::Outcome::kSkipped ? 1 : 0;
  }
  return {{"schema", "dynbench.plan/1"},
          {"planned", plan.experiments.size()},
          {"skipped", skipped},
          {"partitions", plan.partitions},
          {"expected_s", expected_s ? Json(*expected_s) : Json(nullptr)},
          {"expected_p90_s", expected_p90_s ? Json(*expected_p90_s) : Json(nullptr)},
          {"placements", placements},
          {"warnings", plan.warnings},
          {"experiments", std::move(experiments)}};
}

Json ResultJson(const store::ResultRow& row) {
  Json json = {{"id", row.id.value},
               {"experiment", plan::ToPublicJson(row.experiment)},
               {"series", plan::SeriesKey(row.experiment)},
               {"state", row.state},
               {"outcome", nullptr},
               {"status", ""},
               {"phase", nullptr},
               {"blame", nullptr},
               {"attempt", row.attempt},
               {"worker", row.worker.value},
               {"worker_host", row.worker_host},
               {"lease", row.lease.value},
               {"started_unix_ms", TimeJson(row.started_at)},
               {"finished_unix_ms", TimeJson(row.finished_at)},
               {"metrics", Json::object()}};
  if (row.result) AddResult(*row.result, &json);
  return json;
}

Json ResultsJson(const store::JobRow& job, const std::vector<store::ResultRow>& rows) {
  Json results = Json::array();
  for (const store::ResultRow& row : rows) results.push_back(ResultJson(row));
  return {{"schema", "dynbench.results/1"},
          {"job", JobJson(job)},
          {"coverage", CoverageJson(job.coverage)},
          {"results", std::move(results)}};
}

Json StatusJson(const std::vector<JobProgress>& jobs) {
  Json list = Json::array();
  for (const JobProgress& progress : jobs) {
    Json json = JobJson(progress.job);
    json.update(CoverageJson(progress.job.coverage));
    json["eta_s"] = progress.eta_s ? Json(*progress.eta_s) : Json(nullptr);
    json["eta_p90_s"] = progress.eta_p90_s ? Json(*progress.eta_p90_s) : Json(nullptr);
    json["waiting_reasons"] = progress.waiting_reasons;
    list.push_back(std::move(json));
  }
  return {{"schema", "dynbench.status/1"}, {"jobs", std::move(list)}};
}

std::string JsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dynbench::formats

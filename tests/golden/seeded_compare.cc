#include "tests/golden/seeded_compare.h"

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/store/statement.h"
#include "common/store/store.h"
#include "common/store/writes.h"
#include "tests/golden/seeded_experiment.h"

namespace dynbench::golden {
namespace {

using plan::Experiment;
using plan::Outcome;
using plan::Result;
using plan::Test;
using store::Database;

constexpr int64_t kBeginMs = 1'790'000'000'000;

struct Model {
  const char* name;
  double base_eager_ms, base_compiled_ms, fresh_eager_ms, fresh_compiled_ms;
};

constexpr Model kModels[] = {
    {"deit_tiny", 20, 10, 20, 12.5},     // slower
    {"ghostnet_100", 30, 15, 30, 13.5},  // faster
    {"mobilenetv2_100", 12, 8, 9, 8},    // eager alone
    {"regnety_002", 14, 9, 14, 9},      {"repvgg_a2", 40, 39, 40, 39},
    {"resnet18", 25, 20, 25, 20},       {"tinynet_a", 0.004, 0.002, 0.004, 0.003},
};
// A process's own share of noise, the same for all models of a job: job 1, 2, 3, 4, 5, 6.
constexpr double kNoise[] = {0.998, 1.000, 1.003, 1.001, 0.997, 1.002};

Result Base(int batch_size) {
  Result r;
  r.outcome = Outcome::kPassed;
  r.batch_size = batch_size;
  r.weights = "random";
  r.threads = 2;
  r.cores = "0-1";
  return r;
}

Result Measured(double eager_ms, double compiled_ms, double noise) {
  Result r = Base(4);
  r.status = "measured";
  r.metrics.eager_latency_ms = eager_ms * noise;
  r.metrics.abs_latency_ms = compiled_ms * (2 - noise);
  r.metrics.speedup = *r.metrics.eager_latency_ms / *r.metrics.abs_latency_ms;
  r.metrics.compilation_latency_s = 17.25 * noise;
  r.metrics.compression_ratio = 1.125;
  r.metrics.compiled_peak_memory_bytes = 8e8;
  r.metrics.eager_spread = 0.004;
  r.metrics.compiled_spread = 0.003;
  r.start_proof = {0, 0, 1, true};
  for (int i = 0; i < 6; ++i) {
    r.eager_ns.push_back(static_cast<int64_t>(eager_ms * noise * 1e6 * (1 + 0.001 * (i % 3))));
    r.compiled_ns.push_back(static_cast<int64_t>(compiled_ms * 1e6 * (1 + 0.001 * (i % 2))));
  }
  return r;
}

Result Checked(bool passes) {
  Result r = Base(4);
  r.status = passes ? "pass" : "fail_accuracy";
  if (passes) return r;
  r.outcome = Outcome::kFailed;
  r.phase = plan::Phase::kVerify;
  r.blame = plan::Blame::kCompiler;
  r.error = "output 0: distance 0.4 is above the tolerance 0.001";
  return r;
}

absl::Status SetBuild(Database& db, const std::string& torch, const std::string& commit,
                      const std::string& hash) {
  return store::UpsertWorker(
      db,
      {WorkerId("worker-1"),
       "bench-1",
       "0.1.0",
       R"({"arch":"x86_64","cpu_model":"AMD EPYC 7B13","host":"bench-1","kernel":"6.1.0",)"
       R"("physical_cores":2,"gpus":[]})",
       R"([{"name":"default","torch_version":")" + torch + R"(","torch_git":")" + commit +
           R"(","hash":")" + hash + R"(","packages":{"timm":"1.0.20"}}])",
       {"cpu"}},
      {kBeginMs});
}

absl::Status AddJob(Database& db, int number) {
  const bool fresh = number > 3;
  store::NewJob job;
  job.request.suite = "timm";
  job.request.label = fresh ? "candidate" : "release";
  job.request.user = "ada";
  job.submitted_at = {kBeginMs + int64_t{number} * 3'600'000};
  std::vector<Result> results;
  const auto add = [&](const Experiment& experiment, const Result& result) {
    job.plan.experiments.push_back(experiment);
    results.push_back(result);
  };
  const double noise = kNoise[number - 1];
  for (const Model& model : kModels) {
    add(TimmExperiment(model.name, Test::kPerformance, 4),
        fresh ? Measured(model.fresh_eager_ms, model.fresh_compiled_ms, noise)
              : Measured(model.base_eager_ms, model.base_compiled_ms, noise));
    const bool breaks = fresh && std::string(model.name) == "resnet18";
    add(TimmExperiment(model.name, Test::kAccuracy, 4), Checked(!breaks));
  }
  add(TimmExperiment("nfnet_l0", Test::kPerformance, fresh ? 8 : 4), Measured(50, 40, noise));
  if (!fresh) add(TimmExperiment("dm_nfnet_f0", Test::kPerformance, 4), Measured(60, 50, noise));
  ASSIGN_OR_RETURN(const store::InsertedJob inserted, store::InsertJob(db, job));
  for (size_t i = 0; i < results.size(); ++i) {
    const int64_t epoch = int64_t{number} * 100 + static_cast<int64_t>(i);
    const ExperimentId experiment = inserted.experiments[i];
    const AttemptId attempt{experiment, LeaseEpoch(epoch)};
    const UnixTimeMs begin{kBeginMs + epoch * 60'000}, end{begin.ms + 45'000};
    RETURN_IF_ERROR(
        store::InsertLease(db, attempt.lease, {WorkerId("worker-1"), 0}, {experiment}, begin));
    RETURN_IF_ERROR(store::RecordStarted(db, attempt, begin));
    RETURN_IF_ERROR(store::RecordResult(db, attempt, results[i], "", begin, end, end).status());
    RETURN_IF_ERROR(store::CloseLease(db, attempt.lease, end));
  }
  return absl::OkStatus();
}

absl::Status Fill(Database& db) {
  RETURN_IF_ERROR(SetBuild(db, "2.13.0", "abc123", "00aa"));
  for (int number = 1; number <= 3; ++number) RETURN_IF_ERROR(AddJob(db, number));
  RETURN_IF_ERROR(SetBuild(db, "2.14.1", "def456", "00bb"));
  for (int number = 4; number <= 6; ++number) RETURN_IF_ERROR(AddJob(db, number));
  return absl::OkStatus();
}

}  // namespace

absl::Status SeedCompare(const std::string& path) {
  ASSIGN_OR_RETURN(const auto db, Database::Open(path, store::Access::kReadWrite));
  RETURN_IF_ERROR(store::Execute(db->handle(), "BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(Fill(*db));
  return store::Execute(db->handle(), "COMMIT");
}

}  // namespace dynbench::golden

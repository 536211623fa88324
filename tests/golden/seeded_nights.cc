#include "tests/golden/seeded_nights.h"

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
constexpr int kNights = 10, kHosts = 3, kBatchSize = 4;
constexpr int64_t kSecond = 1'000'000'000;

constexpr const char* kModels[] = {"beit_base", "convnext_base", "deit_tiny",    "dla102",
                                   "dpn107",    "ghostnet_100",  "inception_v3", "mobilenetv2_100",
                                   "nfnet_l0",  "regnet_002",    "repvgg_a2",    "res2net50",
                                   "resnet18",  "swin_base",     "tinynet_a",    "vit_small"};

// A fixed pattern within 2 %, so that no two processes agree to the bit.
double Noise(int night, int model) { return 1 + 0.005 * ((night * 7 + model * 3) % 5 - 2); }

Result Measured(int model, double slowness, double noise, double more_compiling_s) {
  Result r;
  r.outcome = Outcome::kPassed;
  r.status = "measured";
  r.batch_size = kBatchSize;
  r.weights = "random";
  r.threads = 2;
  r.cores = "0-1";
  const double eager_ms = (10 + 2 * model) * slowness * noise;
  r.metrics.eager_latency_ms = eager_ms;
  r.metrics.abs_latency_ms = eager_ms * 0.625;
  r.metrics.speedup = 1.6;
  r.metrics.compilation_latency_s = 20 * slowness * noise;
  r.metrics.eager_spread = r.metrics.compiled_spread = 0.004;
  r.phases = {{plan::Phase::kLoad, 2 * kSecond, 0},
              {plan::Phase::kCompile, static_cast<int64_t>((20 + more_compiling_s) * 1e9), 0},
              {plan::Phase::kMeasure, 5 * kSecond, 0}};
  r.start_proof = {0, 0, 1, true};
  return r;
}

Result Checked(const std::string& status) {
  Result r;
  r.status = status;
  r.batch_size = kBatchSize;
  r.weights = "random";
  r.threads = 2;
  r.cores = "0-1";
  r.phases = {{plan::Phase::kLoad, 2 * kSecond, 0}, {plan::Phase::kVerify, 6 * kSecond, 0}};
  r.outcome = status == "pass" ? Outcome::kPassed : Outcome::kFailed;
  if (r.outcome == Outcome::kPassed) return r;
  r.phase = plan::Phase::kVerify;
  r.blame = status == "fail_accuracy" ? plan::Blame::kCompiler : plan::Blame::kEager;
  r.error = status == "fail_accuracy" ? "output 0: distance 0.4 is above the tolerance 0.001"
                                      : "two eager runs differ in output 0";
  return r;
}

// What becomes of one experiment: where, when, after how many infrastructure failures.
struct Run {
  int host = 0;  // from 0
  UnixTimeMs begin;
  int64_t lasts_ms = 30'000;
  int failures = 0;  // of 40 s each
};

class Filler {
 public:
  explicit Filler(Database& db) : db_(db) {}

  absl::Status Fill() {
    for (int host = 0; host < kHosts; ++host) RETURN_IF_ERROR(AddHost(host));
    for (int night = 1; night <= kNights; ++night) RETURN_IF_ERROR(AddNight(night));
    return absl::OkStatus();
  }

 private:
  static WorkerId WorkerOf(int host) { return WorkerId("worker-" + std::to_string(host + 1)); }

  absl::Status AddHost(int host) {
    const std::string name = "bench-" + std::to_string(host + 1);
    return store::UpsertWorker(
        db_,
        {WorkerOf(host),
         name,
         "0.1.0",
         R"({"arch":"x86_64","cpu_model":"AMD EPYC 7B13","host":")" + name +
             R"(","kernel":"6.1.0","physical_cores":2,"gpus":[]})",
         R"([{"name":"default","torch_version":"2.14.1","torch_git":"def456","hash":"00bb"}])",
         {"cpu"}},
        {kBeginMs});
  }

  absl::Status AddNight(int night) {
    const bool last = night == kNights;
    store::NewJob job;
    job.request.suite = "timm";
    job.request.label = "nightly";
    job.request.user = "ada";
    job.submitted_at = {kBeginMs + int64_t{night} * 86'400'000};
    std::vector<Result> results;
    std::vector<Run> runs;
    UnixTimeMs begin = job.submitted_at;
    const auto add = [&](const Experiment& experiment, const Result& result, Run run) {
      run.begin = begin;
      begin.ms += run.lasts_ms + run.failures * int64_t{40'000} + 5'000;
      job.plan.experiments.push_back(experiment);
      results.push_back(result);
      runs.push_back(run);
    };
    for (int model = 0; model < static_cast<int>(std::size(kModels)); ++model) {
      const std::string name = kModels[model];
      Run run;
      run.host = (night + model) % kHosts;
      const double slowness = run.host == 2 ? 2 : 1;
      const double more_s = last && name == "vit_small" ? 240 : 0;
      run.lasts_ms += static_cast<int64_t>(more_s * 1000);
      if (night > 5 && run.host == 2 && model >= 12 - night && model < 15 - night) run.failures = 1;
      if (last && name == "resnet18") run.failures = 1;
      add(TimmExperiment(name, Test::kPerformance, kBatchSize),
          Measured(model, slowness, Noise(night, model), more_s), run);
    }
    Run quick;
    quick.lasts_ms = 10'000;
    add(TimmExperiment("ghostnet_100", Test::kAccuracy, kBatchSize),
        Checked(night % 2 == 0 ? "eager_two_runs_differ" : "pass"), quick);
    add(TimmExperiment("resnet18", Test::kAccuracy, kBatchSize),
        Checked(last ? "fail_accuracy" : "pass"), quick);
    ASSIGN_OR_RETURN(const store::InsertedJob inserted, store::InsertJob(db_, job));
    for (size_t i = 0; i < results.size(); ++i) {
      RETURN_IF_ERROR(Measure(inserted.experiments[i], runs[i], results[i]));
    }
    return absl::OkStatus();
  }

  absl::Status Measure(ExperimentId experiment, Run run, const Result& result) {
    const SlotId slot{WorkerOf(run.host), 0};
    for (; run.failures > 0; --run.failures) {
      const AttemptId attempt{experiment, LeaseEpoch(++epoch_)};
      RETURN_IF_ERROR(store::InsertLease(db_, attempt.lease, slot, {experiment}, run.begin));
      RETURN_IF_ERROR(store::RecordStarted(db_, attempt, run.begin));
      run.begin.ms += 40'000;
      RETURN_IF_ERROR(store::Requeue(db_, experiment, attempt.lease, "device_lost", run.begin,
                                     "infrastructure"));
      RETURN_IF_ERROR(store::CloseLease(db_, attempt.lease, run.begin));
    }
    const AttemptId attempt{experiment, LeaseEpoch(++epoch_)};
    const UnixTimeMs end{run.begin.ms + run.lasts_ms};
    RETURN_IF_ERROR(store::InsertLease(db_, attempt.lease, slot, {experiment}, run.begin));
    RETURN_IF_ERROR(store::RecordStarted(db_, attempt, run.begin));
    RETURN_IF_ERROR(store::RecordResult(db_, attempt, result, "", run.begin, end, end).status());
    return store::CloseLease(db_, attempt.lease, end);
  }

  Database& db_;
  int64_t epoch_ = 0;
};

}  // namespace

absl::Status SeedNights(const std::string& path) {
  ASSIGN_OR_RETURN(const auto db, Database::Open(path, store::Access::kReadWrite));
  RETURN_IF_ERROR(store::Execute(db->handle(), "BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(Filler(*db).Fill());
  return store::Execute(db->handle(), "COMMIT");
}

}  // namespace dynbench::golden

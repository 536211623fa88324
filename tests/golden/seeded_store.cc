#include "tests/golden/seeded_store.h"

#include "common/base/status.h"
#include "common/store/holds.h"
#include "common/store/slot_time.h"
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

Experiment Planned(const std::string& model, Test test) {
  Experiment e = TimmExperiment(model, test, test == Test::kPerformance ? 128 : 8);
  e.output = test == Test::kPerformance ? "timm_performance.csv" : "timm_accuracy.csv";
  return e;
}

Result Measured(double eager_ms, double compiled_ms) {
  Result r;
  r.outcome = Outcome::kPassed;
  r.status = "measured";
  r.batch_size = 128;
  r.weights = "random";
  r.threads = 2;
  r.cores = "0-1";
  r.metrics.speedup = eager_ms / compiled_ms;
  r.metrics.eager_latency_ms = eager_ms;
  r.metrics.abs_latency_ms = compiled_ms;
  r.metrics.compilation_latency_s = 17.25;
  r.metrics.compression_ratio = 1.125;
  r.metrics.eager_peak_memory_bytes = 9e8;
  r.metrics.compiled_peak_memory_bytes = 8e8;
  r.metrics.eager_spread = 0.0125;
  r.metrics.compiled_spread = 0.0075;
  r.metrics.calls_captured = 150;
  r.metrics.unique_graphs = 1;
  r.metrics.graph_breaks = 1;
  r.metrics.compile_synchronized_s = 16.5;
  r.metrics.break_even_calls = 16.5e3 / (eager_ms - compiled_ms);
  r.compiler_report = R"({"compile_phases_s": {"backend_compile": 12.25, "dynamo": 15.5},
    "graph_breaks": [{"reason": "call to print", "user_stack": ["model.py:3 in forward"]}],
    "recompile_reasons": ["size of x changed from 2 to 3"]})";
  r.phases = {{plan::Phase::kLoad, 1'500'000'000, 0},
              {plan::Phase::kCompile, 17'250'000'000, 250'000'000}};
  r.eager_ns = {30'000'000, 30'100'000};
  r.compiled_ns = {20'000'000, 20'050'000};
  r.start_proof = {0, 0, 1, true};
  r.in_force = {{"inductor.freezing", "False"}, {"torch.num_threads", "2"}};
  return r;
}

Result Compared() {
  Result r;
  r.outcome = Outcome::kPassed;
  r.status = "pass";
  r.batch_size = 8;
  r.weights = "random";
  r.accuracy_rule = "tolerance";
  r.metrics.accuracy_distance = 0.0002;
  r.metrics.accuracy_tolerance = 0.001;
  return r;
}

Result Crashed() {
  Result r;
  r.outcome = Outcome::kFailed;
  r.status = "crash";
  r.phase = plan::Phase::kCompile;
  r.blame = plan::Blame::kCompiler;
  r.error = "killed by signal 11 (SIGSEGV)";
  r.detail = "Fatal Python error: Segmentation fault\n  in compile";
  r.exit_code = -1;
  r.exit_signal = 11;
  return r;
}

Result Wrong() {
  Result r;
  r.outcome = Outcome::kFailed;
  r.status = "fail_accuracy";
  r.phase = plan::Phase::kVerify;
  r.blame = plan::Blame::kCompiler;
  r.error = "output 0: distance 0.4 is above the tolerance 0.001";
  r.batch_size = 8;
  return r;
}

// The experiment runs on the worker under a lease of its own.
absl::Status Run(Database& db, ExperimentId experiment, int64_t epoch, const Result& result) {
  const AttemptId attempt{experiment, LeaseEpoch(epoch)};
  const UnixTimeMs begin{kBeginMs + epoch * 60'000}, end{begin.ms + 45'000};
  RETURN_IF_ERROR(
      store::InsertLease(db, attempt.lease, {WorkerId("worker-1"), 0}, {experiment}, begin));
  RETURN_IF_ERROR(store::RecordStarted(db, attempt, begin));
  RETURN_IF_ERROR(
      store::RecordResult(db, attempt, result, "the model's own words\n", begin, end, end)
          .status());
  return store::CloseLease(db, attempt.lease, end);
}

absl::Status Fill(Database& db) {
  RETURN_IF_ERROR(store::UpsertWorker(
      db,
      {WorkerId("worker-1"),
       "bench-1",
       "0.1.0",
       R"({"cpu":"AMD EPYC 7B13","cores":2})",
       R"([{"name":"default","torch_version":"2.14.1","torch_git":"abc123","hash":"00ff",)"
       R"("python":"/opt/env/bin/python","suites":["timm","path"],"packages":{"timm":"1.0.20"}}])",
       {"cpu"},
       R"({"pool":"nightly","rack":"7"})",
       -2'600},
      {kBeginMs}));
  RETURN_IF_ERROR(
      store::PutDrain(db, {WorkerId("worker-1"), "new kernel", {kBeginMs + 600'000}}, {kBeginMs}));
  const SlotId slot{WorkerId("worker-1"), 0};
  RETURN_IF_ERROR(
      store::RecordSpans(db, {{slot, {kBeginMs}, {kBeginMs + 4'000}, "preparing"},
                              {slot, {kBeginMs + 4'000}, {kBeginMs + 90'000}, "compiling"},
                              {slot, {kBeginMs + 90'000}, {kBeginMs + 200'000}, "measuring"},
                              {slot, {kBeginMs + 200'000}, {kBeginMs + 3'800'000}, "drained"}}));
  store::NewJob job;
  job.request.suite = "timm";
  job.request.label = "nightly";
  job.request.user = "ada";
  job.submitted_at = {kBeginMs};
  for (const char* model : {"ghostnet_100", "mobilenetv2_100", "repvgg_a2"}) {
    job.plan.experiments.push_back(Planned(model, Test::kPerformance));
    job.plan.experiments.push_back(Planned(model, Test::kAccuracy));
  }
  Experiment skipped = Planned("nfnet_l0", Test::kPerformance);
  skipped.planned_outcome = Outcome::kSkipped;
  skipped.reason = "not on aarch64: takes too long";
  job.plan.experiments.push_back(skipped);
  ASSIGN_OR_RETURN(const store::InsertedJob inserted, store::InsertJob(db, job));
  const auto& ids = inserted.experiments;
  RETURN_IF_ERROR(Run(db, ids[0], 1, Measured(30.12, 21.21)));
  RETURN_IF_ERROR(Run(db, ids[1], 2, Compared()));
  RETURN_IF_ERROR(Run(db, ids[2], 3, Crashed()));
  RETURN_IF_ERROR(Run(db, ids[3], 4, Wrong()));
  RETURN_IF_ERROR(Run(db, ids[4], 5, Measured(12, 15)));
  return store::Conclude(db, ids[5], Outcome::kLost, "worker_gone", plan::Blame::kInfrastructure,
                         "worker gone three times", {kBeginMs + 600'000});
}

}  // namespace

absl::Status SeedStore(const std::string& path) {
  ASSIGN_OR_RETURN(const auto db, Database::Open(path, store::Access::kReadWrite));
  RETURN_IF_ERROR(store::Execute(db->handle(), "BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(Fill(*db));
  return store::Execute(db->handle(), "COMMIT");
}

}  // namespace dynbench::golden

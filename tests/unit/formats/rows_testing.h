// Rows of a job as a store would give them, for the tests of the formats.
#pragma once

#include <string>
#include <vector>

#include "common/store/queries.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::formats {

inline store::ResultRow Waiting(const std::string& model, plan::Test test) {
  store::ResultRow row;
  row.id = ExperimentId(7);
  row.job = JobId(12);
  row.experiment.suite = "timm";
  row.experiment.model = model;
  row.experiment.test = test;
  row.experiment.batch_size = test == plan::Test::kAccuracy ? 8 : 128;
  row.state = "waiting";
  return row;
}

inline store::ResultRow Done(store::ResultRow row, plan::Outcome outcome,
                             const std::string& status) {
  row.state = "done";
  row.attempt = 1;
  row.worker = WorkerId("w-1");
  row.worker_host = "alpha";
  row.lease = LeaseEpoch(3);
  row.started_at = {1000};
  row.finished_at = {31000};
  row.result.emplace();
  row.result->outcome = outcome;
  row.result->status = status;
  row.result->batch_size = row.experiment.batch_size;
  return row;
}

inline store::ResultRow Measured(const std::string& model, double eager_ms, double compiled_ms) {
  store::ResultRow row =
      Done(Waiting(model, plan::Test::kPerformance), plan::Outcome::kPassed, "measured");
  plan::Metrics& m = row.result->metrics;
  m.speedup = eager_ms / compiled_ms;
  m.eager_latency_ms = eager_ms;
  m.abs_latency_ms = compiled_ms;
  m.eager_spread = 0.024;
  m.compiled_spread = 0.4;
  m.compilation_latency_s = 17.25;
  m.compression_ratio = 0.975;
  m.eager_peak_memory_bytes = 1.5e9;
  m.compiled_peak_memory_bytes = 1.538e9;
  m.calls_captured = 155;
  m.unique_graphs = 1;
  m.fallbacks_to_eager = 0;
  m.graph_breaks = 2;
  m.unique_graph_breaks = 1;
  m.autograd_captures = 0;
  m.autograd_compiles = 0;
  m.cudagraph_skips = 3;
  return row;
}

inline store::ResultRow Accuracy(const std::string& model, plan::Outcome outcome,
                                 const std::string& status) {
  store::ResultRow row = Done(Waiting(model, plan::Test::kAccuracy), outcome, status);
  row.result->metrics.calls_captured = 155;
  row.result->metrics.unique_graphs = 1;
  row.result->metrics.compilation_latency_s = 9.5;
  return row;
}

inline store::ResultRow Failed(store::ResultRow row, const std::string& status, plan::Phase phase,
                               plan::Blame blame, const std::string& error) {
  row = Done(std::move(row), plan::Outcome::kFailed, status);
  row.result->phase = phase;
  row.result->blame = blame;
  row.result->error = error;
  row.result->batch_size = 0;
  return row;
}

inline store::JobRow JobOf(const std::vector<store::ResultRow>& rows) {
  store::JobRow job;
  job.id = JobId(12);
  job.state = "running";
  job.suite = "timm";
  job.submitted_at = {500};
  store::Coverage& c = job.coverage;
  for (const store::ResultRow& row : rows) {
    ++c.planned;
    if (!row.result) {
      ++(row.state == "running" ? c.running : c.waiting);
      continue;
    }
    switch (row.result->outcome) {
      case plan::Outcome::kPassed:
        ++c.passed;
        break;
      case plan::Outcome::kFailed:
        ++c.failed;
        break;
      case plan::Outcome::kSkipped:
        ++c.skipped;
        break;
      case plan::Outcome::kLost:
        ++c.lost;
        break;
      case plan::Outcome::kCancelled:
        ++c.cancelled;
        break;
    }
  }
  return job;
}

// A job in which everything happens that can.
inline std::vector<store::ResultRow> EveryKindOfRow() {
  using plan::Blame;
  using plan::Outcome;
  using plan::Phase;
  using plan::Test;
  std::vector<store::ResultRow> rows;
  rows.push_back(Measured("mobilenetv2_100", 30.12, 21.21));
  rows.push_back(Accuracy("mobilenetv2_100", Outcome::kPassed, "pass"));
  rows.push_back(Measured("repvgg_a2", 8.25, 9.5));
  rows.push_back(Failed(Waiting("repvgg_a2", Test::kAccuracy), "fail_accuracy", Phase::kVerify,
                        Blame::kCompiler, "RMSE (res-fp64): 0.00312, (ref-fp64): 0.00041"));
  rows.back().result->batch_size = 8;
  rows.push_back(Failed(Waiting("ghostnet_100", Test::kPerformance), "crash", Phase::kCompile,
                        Blame::kCompiler, "killed by signal 11 (SIGSEGV)"));
  rows.push_back(Waiting("ghostnet_100", Test::kAccuracy));
  rows.push_back(Done(Waiting("nfnet_l0", Test::kPerformance), Outcome::kLost, "worker_gone"));
  rows.back().result->blame = Blame::kInfrastructure;
  rows.back().result->error = "worker alpha was not seen again";
  rows.back().result->batch_size = 0;
  rows.push_back(Waiting("nfnet_l0", Test::kAccuracy));
  rows.back().state = "running";
  rows.push_back(Done(Waiting("visformer_small", Test::kPerformance), Outcome::kSkipped, ""));
  rows.back().experiment.reason = "takes longer than the time limit on aarch64 CPUs";
  rows.push_back(Done(Waiting("visformer_small", Test::kAccuracy), Outcome::kSkipped, ""));
  rows.back().experiment.reason = "takes longer than the time limit on aarch64 CPUs";
  return rows;
}

}  // namespace dynbench::formats

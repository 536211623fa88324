// Sides of comparisons for tests: processes with the figures that a test cares about.
#pragma once

#include <string>
#include <vector>

#include "common/judge/fingerprint.h"

namespace dynbench::judge {

inline plan::Experiment ExperimentOf(const std::string& model,
                                     plan::Test test = plan::Test::kPerformance) {
  plan::Experiment e;
  e.suite = "timm";
  e.model = model;
  e.test = test;
  e.source = {"timm", model, "", ""};
  e.batch_size = 4;
  return e;
}

// A process that measured these medians, on host "a" with build "old".
inline Process Measured(const std::string& model, double eager_ms, double compiled_ms) {
  Process process;
  store::ResultRow& row = process.row;
  row.experiment = ExperimentOf(model);
  row.state = "done";
  row.worker_host = "a";
  plan::Result result;
  result.outcome = plan::Outcome::kPassed;
  result.status = "measured";
  result.batch_size = 4;
  result.weights = "random";
  result.threads = 2;
  result.cores = "0-1";
  result.metrics.eager_latency_ms = eager_ms;
  result.metrics.abs_latency_ms = compiled_ms;
  result.metrics.speedup = eager_ms / compiled_ms;
  result.metrics.eager_spread = 0.004;
  result.metrics.compiled_spread = 0.004;
  row.result = result;
  process.host = {{"host", "a"}, {"CPU", "EPYC"}, {"kernel", "6.1"}};
  process.build = {{"environment", "old"}, {"torch", "2.13.0"}};
  return process;
}

// One that ended with a status word of the accuracy test.
inline Process Checked(const std::string& model, const std::string& status) {
  Process process = Measured(model, 1, 1);
  process.row.experiment = ExperimentOf(model, plan::Test::kAccuracy);
  plan::Result& result = *process.row.result;
  result.metrics = {};
  result.status = status;
  if (status.substr(0, 4) != "pass") {
    result.outcome = plan::Outcome::kFailed;
    result.blame = plan::Blame::kCompiler;
    result.error = status + " says why";
  }
  return process;
}

// The same on the other build.
inline std::vector<Process> OnNewBuild(std::vector<Process> processes) {
  for (Process& process : processes) {
    process.build = {{"environment", "new"}, {"torch", "2.14.1"}};
  }
  return processes;
}

}  // namespace dynbench::judge

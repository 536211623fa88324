// Rows and jobs for the tests of what is shown.
#pragma once

#include <string>

#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

inline JobView MakeJob(const store::Coverage& coverage, const std::string& state = "running") {
  JobView job;
  job.job.id = JobId(3);
  job.job.suite = "timm";
  job.job.state = state;
  job.job.coverage = coverage;
  return job;
}

inline RowView MakeRow(int64_t id, const std::string& model, const std::string& state) {
  RowView view;
  view.row.id = ExperimentId(id);
  view.row.job = JobId(3);
  view.row.state = state;
  view.row.experiment.suite = "timm";
  view.row.experiment.model = model;
  return view;
}

inline RowView Passed(int64_t id, const std::string& model) {
  RowView view = MakeRow(id, model, "done");
  view.row.result.emplace();
  view.row.result->outcome = plan::Outcome::kPassed;
  view.row.result->status = "measured";
  view.row.result->metrics.speedup = 1.25;
  view.row.result->metrics.eager_latency_ms = 10;
  view.row.result->metrics.abs_latency_ms = 8;
  return view;
}

inline RowView Failed(int64_t id, const std::string& model, const std::string& error) {
  RowView view = MakeRow(id, model, "done");
  view.row.result.emplace();
  view.row.result->outcome = plan::Outcome::kFailed;
  view.row.result->status = "crash";
  view.row.result->phase = plan::Phase::kCompile;
  view.row.result->blame = plan::Blame::kCompiler;
  view.row.result->error = error;
  return view;
}

}  // namespace dynbench::cli

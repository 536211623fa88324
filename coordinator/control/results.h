// Rows of a job and everything about one experiment.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/control/context.h"
#include "coordinator/session/page_stream.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// Walks the rows of a job in plan order, a bounded page at a time.
class RowWalk {
 public:
  RowWalk(const Context* context, JobId job, bool with_samples)
      : context_(context), job_(job), with_samples_(with_samples) {}

  // At most kPageRows rows and about kPageBytes; false: there are none left. NotFound: no such job.
  absl::StatusOr<bool> Next(store::Database& db,
                            google::protobuf::RepeatedPtrField<v1::ResultRow>* rows);

 private:
  const Context* const context_;
  const JobId job_;
  const bool with_samples_;
  ExperimentId after_;
  bool begun_ = false;
  std::map<ExperimentId, std::string> phases_;  // of those that ran when the walk began
};

absl::StatusOr<v1::ExperimentDetail> LoadExperiment(const Context& context, store::Database& db,
                                                    ExperimentId experiment);

}  // namespace dynbench::control

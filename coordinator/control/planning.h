// From a request to a plan, and from a plan to a committed job.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "common/plan/expand.h"
#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

struct Planned {
  plan::Request request;
  plan::Plan plan;
};

// Reads and expands a request. InvalidArgument as plan::Expand says. Stores nothing.
absl::StatusOr<Planned> MakePlan(const Context& context, const std::string& request_json);

// What a job needs beyond a plan. InvalidArgument: it has no experiment, or a model file was not
// uploaded.
absl::Status CheckRunnable(store::Database& db, const Planned& planned);

// The first page's facts about a plan: warnings, partitions, predicted makespan on the slots there
// are now, and what could run where.
absl::Status DescribePlan(const Context& context, const Planned& planned, v1::PlanPage* page);

using Submitted = std::function<void(absl::StatusOr<v1::SubmitReply>)>;

// Commits the job, hands it to the dispatcher, then calls `done` (on another thread).
void Submit(const Context& context, Planned planned, std::string idempotency_key, Submitted done);

// A new job with the failed and lost experiments of `job` (or, with models alone, every one of them
// that ran), each linked to the one that it repeats; a diagnostic rerun when kinds are given.
// FailedPrecondition: there is none.
void Retry(const Context& context, store::Database& db, const v1::RetryJobRequest& request,
           Submitted done);

}  // namespace dynbench::control

#include "coordinator/control/simulate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/plan/needs.h"
#include "common/plan/partition.h"
#include "common/store/queries.h"
#include "coordinator/control/planning.h"
#include "coordinator/scheduler/simulator.h"

namespace dynbench::control {
namespace {

struct Past {
  plan::Experiment experiment;
  double actual_s = -1;  // negative: it did not run
};

void AddTask(const Context& context, const Past& past, const plan::Request& request,
             const std::optional<session::TypicalCompile>& own, scheduler::SimulatedNight* night) {
  const plan::Experiment& e = past.experiment;
  scheduler::SimulatedTask& to = night->tasks.emplace_back();
  to.task.id = ExperimentId(static_cast<int64_t>(night->tasks.size()));
  to.task.queue_order = to.task.id.value;
  to.task.device = e.device;
  to.task.environment = e.environment;
  to.task.profile = e.profile;
  to.task.model = e.model;
  to.task.partition = e.partition;
  to.task.needs = plan::NeedsOf(e, request);
  if (e.pair > 0) {
    to.task.environment = request.base;
    to.task.unit = absl::StrCat("pair ", e.pair, " round ", e.round);
  }
  to.task.home = context.predictions->Home(e);
  const session::Prediction prediction = context.predictions->Predict(e, own ? &*own : nullptr);
  to.task.expected_s = prediction.p50_s;
  to.task.place_s = prediction.place_s;
  to.task.p90_s = prediction.p90_s;
  to.actual_s = past.actual_s >= 0 ? past.actual_s : prediction.p50_s;
}

absl::StatusOr<std::vector<Past>> LoadPast(store::Database& db, JobId job) {
  std::vector<Past> all;
  for (ExperimentId after;;) {
    ASSIGN_OR_RETURN(auto rows, store::ListResults(db, job, after, kPageRows, false));
    if (rows.empty()) return all;
    for (store::ResultRow& row : rows) {
      after = row.id;
      if (row.experiment.planned_outcome) continue;
      if (row.experiment.pair > 0 && !row.lease) continue;  // a round that was not needed
      Past& past = all.emplace_back();
      past.experiment = std::move(row.experiment);
      if (row.started_at.ms > 0 && row.finished_at.ms >= row.started_at.ms) {
        past.actual_s = static_cast<double>(row.finished_at.ms - row.started_at.ms) / 1000;
      }
    }
  }
}

// The same experiments under another policy: as many partitions as there are slots.
void Repartition(plan::PartitionPolicy policy, scheduler::SimulatedNight* night) {
  const int total = static_cast<int>(
      std::count_if(night->slots.begin(), night->slots.end(),
                    [](const scheduler::SimulatedSlot& slot) { return slot.offer.accepting; }));
  night->policy = policy;
  if (policy == plan::PartitionPolicy::kDynamic || total == 0) return;
  if (policy == plan::PartitionPolicy::kBalanced) {
    std::vector<double> expected;
    for (const auto& task : night->tasks) expected.push_back(task.task.expected_s);
    const std::vector<int> partitions = plan::BalancedPartitions(expected, total);
    for (size_t i = 0; i < partitions.size(); ++i) night->tasks[i].task.partition = partitions[i];
    return;
  }
  std::set<std::string> models;  // upstream slices the sorted list
  for (const auto& task : night->tasks) models.insert(task.task.model);
  const std::vector<std::string> sorted(models.begin(), models.end());
  std::map<std::string, int> partition;
  for (int p = 0; p < total; ++p) {
    const auto [begin, end] = plan::StaticSlice(sorted.size(), total, p);
    for (size_t i = begin; i < end; ++i) partition[sorted[i]] = p;
  }
  for (auto& task : night->tasks) task.task.partition = partition.at(task.task.model);
}

absl::Status LoadNight(const Context& context, store::Database& db,
                       const v1::SimulateRequest& request, scheduler::SimulatedNight* night) {
  const bool has_request = !request.request_json().empty() || !request.request_sha256().empty();
  if ((request.job() != 0) == has_request) {
    return absl::InvalidArgumentError(
        "simulate either a request or a job of the past: plan --simulate with submit's flags, or "
        "with --job N alone");
  }
  if (request.job() != 0) {
    ASSIGN_OR_RETURN(const plan::Request of_job, store::GetRequest(db, JobId(request.job())));
    ASSIGN_OR_RETURN(const std::vector<Past> all, LoadPast(db, JobId(request.job())));
    night->policy = of_job.policy;
    const auto own = session::TypicalCompile::OfOwnSuite(of_job);
    for (const Past& past : all) AddTask(context, past, of_job, own, night);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const auto text,
                   context.staged->TextOf(request.request_json(), request.request_sha256()));
  ASSIGN_OR_RETURN(const Planned planned, MakePlan(context, *text));
  night->policy = planned.request.policy;
  const auto own = session::TypicalCompile::OfOwnSuite(planned.request);
  for (const plan::Experiment& e : planned.plan.experiments) {
    // Of a pair the rounds that it takes at the least.
    if (e.planned_outcome || e.round > planned.request.rounds_min) continue;
    AddTask(context, {e, -1}, planned.request, own, night);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SimulatePlan(const Context& context, store::Database& db,
                          const v1::SimulateRequest& request, v1::SimulateReply* reply) {
  scheduler::SimulatedNight night;
  RETURN_IF_ERROR(LoadNight(context, db, request, &night));
  ASSIGN_OR_RETURN(const session::FleetView fleet, context.dispatcher->ViewFleet());
  for (const auto& [worker, offers] : fleet.offers) {
    for (const scheduler::SlotOffer& offer : offers) night.slots.push_back({worker, offer});
  }
  if (night.slots.empty()) {
    return absl::FailedPreconditionError(
        "no worker is connected, so there is no slot to simulate on; start one");
  }
  if (request.extra_slots() < 0) {
    return absl::InvalidArgumentError("the number of extra slots must not be negative");
  }
  night = WithExtraSlots(std::move(night), request.extra_slots());
  if (!request.policy().empty()) {
    const auto policy = plan::ParsePartitionPolicy(request.policy());
    if (!policy) {
      return absl::InvalidArgumentError(absl::StrCat("there is no policy \"", request.policy(),
                                                     "\"; there are dynamic, balanced, static"));
    }
    Repartition(*policy, &night);
  }
  const scheduler::Simulation now = scheduler::Simulate(night);
  const scheduler::Simulation more = scheduler::Simulate(WithExtraSlots(night, 1));
  reply->set_makespan_s(now.makespan_s);
  reply->set_makespan_p90_s(
      std::max(now.makespan_s, request.job() != 0 ? 0 : scheduler::MakespanP90(night)));
  reply->set_idle_share(now.idle_share);
  reply->set_lower_bound_s(now.lower_bound_s);
  reply->set_critical_model(now.critical_model);
  reply->set_saved_by_one_slot_s(now.makespan_s - more.makespan_s);
  reply->set_slots(static_cast<int>(now.slots));
  reply->set_experiments(static_cast<int64_t>(now.experiments));
  for (const std::string& line : now.unplaceable) reply->add_unplaceable(line);
  return absl::OkStatus();
}

}  // namespace dynbench::control

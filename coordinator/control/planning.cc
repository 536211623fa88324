#include "coordinator/control/planning.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/durations.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/diagnostics.h"
#include "common/plan/nearest.h"
#include "common/plan/needs.h"
#include "common/plan/pairs.h"
#include "common/plan/request_check.h"
#include "coordinator/session/rows.h"

namespace dynbench::control {
namespace {

// Slots of the fleet that can take an experiment with this device and environment.
std::vector<SlotId> SlotsFor(const session::FleetView& fleet, const plan::Experiment& e,
                             const plan::Request& request) {
  const plan::Needs needs = plan::NeedsOf(e, request);
  std::vector<std::string> environments = plan::PairEnvironments(request);
  if (environments.empty()) environments = {e.environment};
  const auto has = [&](const scheduler::SlotOffer& offer, const std::string& name) {
    const plan::EnvironmentOffer& facts = offer.FactsOf(name);
    return offer.environments.count(name) > 0 && offer.failing.count(name) == 0 &&
           plan::MissingRequirement(needs, offer.labels, facts).empty() &&
           plan::MissingBuildNeed(needs, facts).empty();
  };
  std::vector<SlotId> slots;
  for (const auto& [worker, offers] : fleet.offers) {
    for (const scheduler::SlotOffer& offer : offers) {
      if (!offer.accepting || offer.device != e.device) continue;
      if (std::all_of(environments.begin(), environments.end(),
                      [&](const std::string& name) { return has(offer, name); })) {
        slots.push_back({worker, offer.index});
      }
    }
  }
  return slots;
}

// Whether the row is measured when every pair takes its least number of rounds, or its most.
bool Counts(const plan::Request& request, const plan::Experiment& e, bool most) {
  if (e.pair == 0) return true;
  const bool timed = e.test == plan::Test::kPerformance;
  return e.round <= (most ? request.rounds_max : timed ? request.rounds_min : 1);
}

// Longest first onto the slot that is free first; the 90 % quantile is of the slot that then ends
// last, its experiments' deviations taken as independent. Negative: something has no slot, or
// nothing like it was ever measured. `most`: of pairs the most rounds that they may take, else the
// least.
scheduler::Eta PredictMakespan(const Context& context, const session::FleetView& fleet,
                               const Planned& planned, bool most) {
  const plan::Plan& plan = planned.plan;
  std::vector<std::pair<session::Prediction, const plan::Experiment*>> todo;
  for (const plan::Experiment& e : plan.experiments) {
    if (e.planned_outcome || !Counts(planned.request, e, most)) continue;
    const session::Prediction prediction = context.predictions->Predict(e);
    if (prediction.basis == session::Prediction::Basis::kNothing) return {};
    todo.push_back({prediction, &e});
  }
  std::stable_sort(todo.begin(), todo.end(),
                   [](const auto& a, const auto& b) { return a.first.p50_s > b.first.p50_s; });
  struct Load {
    double p50_s = 0;
    double spread_square = 0;
  };
  std::map<SlotId, Load> loads;
  scheduler::Eta makespan{0, 0};
  for (const auto& [prediction, experiment] : todo) {
    const std::vector<SlotId> slots = SlotsFor(fleet, *experiment, planned.request);
    if (slots.empty()) return {};
    const SlotId& first = *std::min_element(
        slots.begin(), slots.end(),
        [&](const SlotId& a, const SlotId& b) { return loads[a].p50_s < loads[b].p50_s; });
    Load& load = loads[first];
    const double spread_s = prediction.p90_s - prediction.p50_s;
    load.p50_s += prediction.p50_s;
    load.spread_square += spread_s * spread_s;
    makespan.p50_s = std::max(makespan.p50_s, load.p50_s);
    makespan.p90_s = std::max(makespan.p90_s, load.p50_s + std::sqrt(load.spread_square));
  }
  return makespan;
}

struct Insertion {
  store::NewJob job;
  store::InsertedJob inserted;
  session::AddedJob added;  // its part that needs running
};

// Once the ids are known.
void Identify(Insertion* insertion) {
  size_t next = 0;
  for (size_t i = 0; i < insertion->inserted.experiments.size(); ++i) {
    if (insertion->job.plan.experiments[i].planned_outcome) continue;
    insertion->added.Identify(next++, insertion->inserted.job, insertion->inserted.experiments[i]);
  }
}

void InsertAndDispatch(const Context& context, store::NewJob job, Submitted done) {
  auto insertion = std::make_shared<Insertion>();
  insertion->job = std::move(job);
  insertion->added.TakeFrom(insertion->job.request);
  for (const plan::Experiment& e : insertion->job.plan.experiments) {
    if (e.planned_outcome) continue;
    insertion->added.Append(e, *context.predictions);
  }
  const auto change = [insertion](store::Database& db) -> absl::Status {
    ASSIGN_OR_RETURN(insertion->inserted, store::InsertJob(db, insertion->job));
    ASSIGN_OR_RETURN(const store::JobRow row, store::GetJob(db, insertion->inserted.job));
    insertion->added.job = session::ToProto(row);
    return absl::OkStatus();
  };
  context.ingest->Apply(change, [dispatcher = context.dispatcher, insertion,
                                 done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) return done(status);
    v1::SubmitReply reply;
    reply.set_job(insertion->inserted.job.value);
    reply.set_planned(insertion->added.job.coverage().planned());
    for (const plan::Experiment& e : insertion->job.plan.experiments) {
      reply.set_skipped(reply.skipped() + (e.planned_outcome == plan::Outcome::kSkipped));
    }
    for (const std::string& w : insertion->job.plan.warnings) reply.add_warnings(w);
    if (insertion->inserted.existed) return done(std::move(reply));
    Identify(insertion.get());
    dispatcher->AddJob(std::move(insertion->added), [done, reply] { done(reply); });
  });
}

// A mistyped environment waits for ever: what no connected worker has is said at once, with what
// they do have.
void WarnOfEnvironments(const session::FleetView& fleet, const plan::Request& request,
                        std::vector<std::string>* warnings) {
  std::set<std::string> known;
  for (const v1::Worker& worker : fleet.workers) {
    for (const auto& environment : worker.environments()) known.insert(environment.name());
  }
  for (const std::string& name : plan::EnvironmentsOf(request)) {
    if (known.contains(name)) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    warnings->push_back(
        known.empty()
            ? absl::StrCat("no worker is connected that has an environment; experiments wait for ",
                           "one with \"", name, "\"")
            : absl::StrCat("no connected worker has the environment \"", name, "\"",
                           plan::DidYouMean(name, names), "; its experiments wait for one (",
                           "connected workers have ", absl::StrJoin(names, ", "), ")"));
  }
}

// What no worker has that is known, though the environment is: they are concluded without running.
absl::Status WarnOfNeeds(const Context& context, const session::FleetView& fleet,
                         Planned* planned) {
  std::set<std::string> known;
  for (const v1::Worker& worker : fleet.workers) {
    for (const auto& environment : worker.environments()) known.insert(environment.name());
  }
  std::vector<scheduler::Task> tasks;
  for (const plan::Experiment& e : planned->plan.experiments) {
    if (e.planned_outcome || known.count(e.environment) == 0) continue;
    scheduler::Task& task = tasks.emplace_back();
    task.device = e.device;
    task.environment = e.environment;
    task.needs = plan::NeedsOf(e, planned->request);
  }
  ASSIGN_OR_RETURN(const auto lines, context.dispatcher->ViewUnplaceable(std::move(tasks)));
  for (const std::string& line : lines) planned->plan.warnings.push_back(line);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Planned> MakePlan(const Context& context, const std::string& request_json) {
  Planned planned;
  ASSIGN_OR_RETURN(planned.request, plan::RequestFromJson(request_json));
  ASSIGN_OR_RETURN(const session::FleetView fleet, context.dispatcher->ViewFleet());
  const auto predict = [&](const plan::Experiment& e) { return context.predictions->Expected(e); };
  ASSIGN_OR_RETURN(planned.plan,
                   plan::Expand(planned.request, *context.catalog, fleet.facts, predict));
  WarnOfEnvironments(fleet, planned.request, &planned.plan.warnings);
  RETURN_IF_ERROR(WarnOfNeeds(context, fleet, &planned));
  return planned;
}

absl::Status CheckRunnable(store::Database& db, const Planned& planned) {
  if (planned.plan.experiments.empty()) {
    std::string why;
    for (const std::string& warning : planned.plan.warnings) absl::StrAppend(&why, "; ", warning);
    return absl::InvalidArgumentError(absl::StrCat("there is nothing to run", why));
  }
  std::set<std::string> files;
  for (const plan::Experiment& e : planned.plan.experiments) {
    if (e.source.file_sha256.empty() || !files.insert(e.source.file_sha256).second) continue;
    if (store::GetFile(db, e.source.file_sha256).ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the model file ", e.source.file_name, " (SHA-256 ", e.source.file_sha256,
                     ") was not uploaded; send it with PutFile before the job"));
  }
  return absl::OkStatus();
}

namespace {

void DescribePairs(const Context& context, const session::FleetView& fleet, const Planned& planned,
                   v1::PlanPage* page) {
  const plan::Request& r = planned.request;
  std::string text = absl::StrCat(
      "pairs of base ", r.base, " and new ", r.fresh, ": ", r.rounds_min, " to ", r.rounds_max,
      " rounds, ", plan::kSpareRounds, " spare; order of the sides by seed ", r.pair_seed);
  const double most_s = PredictMakespan(context, fleet, planned, /*most=*/true).p50_s;
  if (most_s >= 0) {
    absl::StrAppend(&text, "; at most ",
                    FormatDuration(static_cast<int64_t>(most_s * kNsPerSecond)));
  }
  if (r.budget_s > 0) {
    absl::StrAppend(&text, "; budget ", FormatDuration(r.budget_s * kNsPerSecond),
                    " of slot time, the pairs that are decided soonest first");
  }
  page->add_placements(text);
}

}  // namespace

absl::Status DescribePlan(const Context& context, const Planned& planned, v1::PlanPage* page) {
  ASSIGN_OR_RETURN(const session::FleetView fleet, context.dispatcher->ViewFleet());
  for (const std::string& warning : planned.plan.warnings) page->add_warnings(warning);
  page->set_partitions(planned.plan.partitions);
  const scheduler::Eta makespan = PredictMakespan(context, fleet, planned, /*most=*/false);
  page->set_expected_s(makespan.p50_s);
  page->set_expected_p90_s(makespan.p90_s);
  if (plan::IsPairJob(planned.request)) DescribePairs(context, fleet, planned, page);
  std::map<SlotId, int64_t> could;
  std::map<std::pair<std::string, std::string>, int64_t> nowhere;
  for (const plan::Experiment& e : planned.plan.experiments) {
    if (e.planned_outcome || e.round > 1) continue;  // every round of a pair can run where one can
    const std::vector<SlotId> slots = SlotsFor(fleet, e, planned.request);
    for (const SlotId& slot : slots) ++could[slot];
    if (slots.empty()) ++nowhere[{e.device, e.environment}];
  }
  for (const auto& [slot, n] : could) {
    page->add_placements(absl::StrCat(n, n == 1 ? " experiment" : " experiments",
                                      " can run on worker ", slot.worker.value, " slot ",
                                      slot.index));
  }
  for (const auto& [needs, n] : nowhere) {
    page->add_placements(absl::StrCat(n, n == 1 ? " experiment has" : " experiments have",
                                      " no slot now: device ", needs.first, ", environment ",
                                      needs.second));
  }
  return absl::OkStatus();
}

void Submit(const Context& context, Planned planned, std::string idempotency_key, Submitted done) {
  store::NewJob job;
  job.request = std::move(planned.request);
  job.plan = std::move(planned.plan);
  job.submitted_at = UnixNow();
  job.idempotency_key = std::move(idempotency_key);
  InsertAndDispatch(context, std::move(job), std::move(done));
}

namespace {

// With `failed` what went wrong; without, whatever has run.
bool CanBeRetried(plan::Outcome outcome, bool failed) {
  if (outcome == plan::Outcome::kFailed || outcome == plan::Outcome::kLost) return true;
  return !failed && outcome == plan::Outcome::kPassed;
}

}  // namespace

void Retry(const Context& context, store::Database& db, const v1::RetryJobRequest& request,
           Submitted done) {
  const JobId id(request.job());
  const auto load = [&]() -> absl::StatusOr<store::NewJob> {
    if (!request.failed() && request.models().empty()) {
      return absl::InvalidArgumentError(
          "say what to retry: --failed (failed and lost experiments) or --models A,B");
    }
    const std::vector<std::string> diagnostics(request.diagnostics().begin(),
                                               request.diagnostics().end());
    RETURN_IF_ERROR(plan::CheckDiagnostics(diagnostics));
    const std::set<std::string> models(request.models().begin(), request.models().end());
    store::NewJob job;
    ASSIGN_OR_RETURN(job.request, store::GetRequest(db, id));
    int partitions = 1;
    for (ExperimentId after;;) {
      ASSIGN_OR_RETURN(auto rows, store::ListResults(db, id, after, kPageRows, false));
      if (rows.empty()) break;
      for (store::ResultRow& row : rows) {
        after = row.id;
        if (!models.empty() && models.count(row.experiment.model) == 0) continue;
        if (!row.result || !CanBeRetried(row.result->outcome, request.failed())) continue;
        row.experiment.diagnostics = diagnostics;
        plan::LeavePair(&row.experiment);
        // With a prepared cache there would be no compilation to look at.
        if (plan::Instruments(diagnostics)) row.experiment.start = plan::Start::kCold;
        row.experiment.planned_outcome.reset();
        row.experiment.reason.clear();
        partitions = std::max(partitions, row.experiment.partition + 1);
        job.plan.experiments.push_back(std::move(row.experiment));
        job.retried.push_back(row.id);
      }
    }
    if (job.plan.experiments.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "job ", id.value, " has no ", request.failed() ? "failed or lost" : "finished",
          " experiment", models.empty() ? "" : " of these models", "; there is nothing to retry"));
    }
    // What is retried of a pair job are single experiments.
    job.request.base.clear();
    job.request.fresh.clear();
    job.request.budget_s = 0;
    job.plan.partitions = partitions;
    job.retries = id;
    job.submitted_at = UnixNow();
    return job;
  };
  absl::StatusOr<store::NewJob> job = load();
  if (!job.ok()) return done(job.status());
  InsertAndDispatch(context, *std::move(job), std::move(done));
}

}  // namespace dynbench::control

// Questions that the dispatcher answers. Each runs on its thread between two events.
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/status.h"
#include "coordinator/session/dispatcher.h"

namespace dynbench::session {
namespace {

constexpr size_t kReasonLines = 10;
// Experiments looked at per job when reasons are collected: a job's experiments differ in few ways.
constexpr size_t kReasonScan = 2000;

std::string Plural(size_t n, const char* noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

}  // namespace

template <typename T>
absl::StatusOr<T> Dispatcher::Ask(std::function<T()> question) {
  auto answer = std::make_shared<std::promise<T>>();
  std::future<T> future = answer->get_future();
  loop_->Post([answer, question = std::move(question)] { answer->set_value(question()); });
  answer.reset();  // a stopped loop drops the task, and with it the promise
  try {
    if (future.wait_for(kAnswerTime) == std::future_status::ready) return future.get();
  } catch (const std::future_error&) {
    return absl::UnavailableError("the coordinator is stopping; try again when it is back");
  }
  return absl::UnavailableError("the coordinator is too busy to answer; try again");
}

scheduler::Eta Dispatcher::EtaOf(JobId job) const {
  scheduler::Eta eta = scheduler_->EtaOf(job, now());
  const double further_s = pairs_.SecondsLeft(job) / static_cast<double>(SlotsOfPairs());
  if (eta.p50_s >= 0) eta.p50_s += further_s;
  if (eta.p90_s >= 0) eta.p90_s += further_s;
  return eta;
}

v1::Job Dispatcher::Describe(const LiveJob& live) {
  v1::Job job = live.job;
  const JobId id(job.id());
  const scheduler::Eta eta = live.finished() ? scheduler::Eta{0, 0} : EtaOf(id);
  job.set_eta_s(eta.p50_s);
  job.set_eta_p90_s(eta.p90_s);
  for (std::string& reason : ReasonsOf(live)) job.add_waiting_reasons(std::move(reason));
  return job;
}

std::string Dispatcher::Away(const WorkerId& worker) const {
  const MonotonicTime since = fleet_.LastHeard(worker).value_or(started_at_);
  return absl::StrCat(
      "worker ", worker.value, ", which is not connected and was not heard for ",
      FormatDuration(now() - since),
      ": run again elsewhere when its lease has expired, unless it comes back first");
}

std::vector<std::string> Dispatcher::ReasonsOf(const LiveJob& job) {
  // Experiments that wait for the same thing are told together.
  using Kind = std::tuple<std::string, std::string, std::string>;
  std::map<Kind, std::pair<size_t, ExperimentId>> waiting;
  std::map<SlotId, size_t> next;
  size_t further = 0;               // rounds that wait for those before them
  std::map<WorkerId, size_t> away;  // what ran on workers that are not connected
  size_t seen = 0;
  for (const ExperimentId& id : job.open) {
    if (++seen > kReasonScan) break;
    const LiveExperiment& e = *live_.Find(id);
    if (e.running) {
      if (fleet_.Find(e.worker) == nullptr) ++away[e.worker];
    } else if (e.lease) {
      ++next[{e.worker, e.slot}];
    } else if (!pairs_.WhyWaiting(id).empty()) {
      ++further;
    } else {
      auto& group = waiting[{e.device, e.environment, e.needs}];
      if (group.first++ == 0) group.second = id;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [worker, count] : away) {
    lines.push_back(absl::StrCat(Plural(count, "experiment"), " started on ", Away(worker)));
  }
  for (const auto& [slot, count] : next) {
    const std::string whose =
        fleet_.Find(slot.worker) == nullptr
            ? Away(slot.worker)
            : absl::StrCat("worker ", slot.worker.value, " slot ", slot.index);
    lines.push_back(absl::StrCat(Plural(count, "experiment"), " in the lease of ", whose));
  }
  for (const auto& [group, first] : waiting) {
    const auto& [device, environment, needs] = group;
    const std::string head =
        absl::StrCat(Plural(first.first, "experiment"), " (device ", device, ", environment ",
                     environment, needs.empty() ? "" : ", ", needs, "): ");
    for (const std::string& reason : scheduler_->ExplainWaiting(first.second, now())) {
      lines.push_back(absl::StrCat(head, reason));
    }
  }
  if (further > 0) {
    lines.push_back(absl::StrCat(Plural(further, "experiment"),
                                 " of later rounds, measured only while a pair is not decided"));
  }
  if (lines.size() > kReasonLines) lines.resize(kReasonLines);
  return lines;
}

absl::StatusOr<std::vector<JobView>> Dispatcher::ViewJobs(std::vector<JobId> jobs,
                                                          bool with_reasons) {
  return Ask<std::vector<JobView>>([this, jobs = std::move(jobs), with_reasons] {
    std::vector<JobView> views;
    for (const JobId& id : jobs) {
      JobView& view = views.emplace_back();
      const LiveJob* live = live_.FindJob(id);
      if (live == nullptr) continue;
      view.open = true;
      view.coverage = live->job.coverage();
      view.eta = EtaOf(id);
      if (with_reasons) view.waiting_reasons = ReasonsOf(*live);
    }
    return views;
  });
}

absl::StatusOr<std::map<ExperimentId, std::string>> Dispatcher::ViewPhases(JobId job) {
  return Ask<std::map<ExperimentId, std::string>>([this, job] {
    std::map<ExperimentId, std::string> phases;
    for (const LiveExperiment* live : live_.Running()) {
      if (live->job == job) phases[live->id] = live->phase;
    }
    return phases;
  });
}

absl::StatusOr<std::vector<std::string>> Dispatcher::ExplainWaiting(ExperimentId experiment) {
  return Ask<std::vector<std::string>>([this, experiment]() -> std::vector<std::string> {
    const LiveExperiment* live = live_.Find(experiment);
    if (live == nullptr) return {};
    if (live->running) {
      if (fleet_.Find(live->worker) != nullptr) return {};
      return {absl::StrCat("started on ", Away(live->worker))};
    }
    if (live->lease && fleet_.Find(live->worker) == nullptr) {
      return {absl::StrCat("is in lease ", live->lease.value, " of ", Away(live->worker))};
    }
    if (live->lease) {
      return {absl::StrCat("is in lease ", live->lease.value, " of worker ", live->worker.value,
                           " slot ", live->slot, " and comes next there")};
    }
    const std::string in_pair = pairs_.WhyWaiting(experiment);
    if (!in_pair.empty()) return {in_pair};
    return scheduler_->ExplainWaiting(experiment, now());
  });
}

absl::StatusOr<FleetView> Dispatcher::ViewFleet() {
  return Ask<FleetView>([this] {
    FleetView view;
    view.facts = fleet_.Facts();
    const std::map<SlotId, std::string> busy = Busy();
    for (auto& [id, connected] : fleet_.workers()) {
      v1::Worker worker = DescribeWorker(connected, busy);
      for (const v1::WorkerSlot& slot : worker.slots()) {
        ++view.slots;
        view.busy_slots += slot.busy_with().empty() ? 0 : 1;
      }
      view.offers[id] = OffersOf(connected);
      view.workers.push_back(std::move(worker));
    }
    return view;
  });
}

absl::StatusOr<std::vector<std::string>> Dispatcher::ViewUnplaceable(
    std::vector<scheduler::Task> tasks) {
  return Ask<std::vector<std::string>>(
      [this, tasks = std::move(tasks)] { return scheduler_->Unplaceable(tasks); });
}

absl::StatusOr<Totals> Dispatcher::ViewTotals() {
  return Ask<Totals>([this] {
    Totals totals;
    for (const auto& [id, live] : live_.jobs()) {
      ++totals.open_jobs;
      totals.waiting += live.job.coverage().waiting();
      totals.running += live.job.coverage().running();
    }
    return totals;
  });
}

absl::StatusOr<std::vector<v1::FleetEnvironment>> Dispatcher::ViewEnvironments(bool with_removed) {
  return Ask<std::vector<v1::FleetEnvironment>>(
      [this, with_removed] { return environments_.List(with_removed); });
}

absl::StatusOr<v1::GetEnvironmentLogReply> Dispatcher::ViewEnvironmentLog(std::string id,
                                                                          int64_t offset) {
  ASSIGN_OR_RETURN(auto reply, Ask<absl::StatusOr<v1::GetEnvironmentLogReply>>(
                                   [this, id = std::move(id), offset] {
                                     return environments_.Log(id, offset);
                                   }));
  return reply;
}

}  // namespace dynbench::session

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/check.h"
#include "common/base/durations.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {
namespace {

// A person reads this; the rest is counted.
constexpr size_t kLines = 20;
constexpr size_t kNamedUsers = 3;

}  // namespace

std::string Core::ExplainOrder(const TaskRecord& record, MonotonicTime now) const {
  std::string text = absl::StrCat("waits for ", FormatDuration(now - record.waiting_since));
  if (record.held) {
    return absl::StrCat(text, ", held back for ", FormatDuration(record.held_until - now),
                        " more: try ", record.infrastructure_failures + 1, " of ",
                        options_.infrastructure_retries + 1, " after an infrastructure failure ",
                        record.last_failure);
  }
  const Job& job = jobs_.at(record.task.job);
  const WorkClass& work_class = matcher_.at(record.work_class);
  std::vector<std::string> before;
  for (const auto& [priority, level] : work_class.jobs.levels()) {
    if (priority > job.order.negative_priority) break;
    const bool same = priority == job.order.negative_priority;
    size_t jobs = 0;
    for (const auto& [user, orders] : level.by_user) {
      if (same && user != job.user) {
        const double theirs = share_.Score(user, now);
        const double ours = share_.Score(job.user, now);
        if (theirs > ours || before.size() >= kNamedUsers) continue;
        before.push_back(
            absl::StrFormat("user \"%s\", who had less slot time lately (%.0f s "
                            "against %.0f s)",
                            user, theirs, ours));
      } else {
        jobs += static_cast<size_t>(
            std::distance(orders.begin(), same ? orders.lower_bound(job.order) : orders.end()));
      }
    }
    if (jobs > 0) {
      before.push_back(absl::StrCat(jobs, jobs == 1 ? " job" : " jobs",
                                    same ? " submitted earlier" : " of higher priority"));
    }
  }
  if (job.deadline && InDanger(job, record.work_class, now)) {
    const int64_t left = *job.deadline - now;
    absl::StrAppend(&text, ", first of its priority: its deadline ",
                    left >= 0 ? absl::StrCat("in ", FormatDuration(left))
                              : absl::StrCat("passed ", FormatDuration(-left), " ago"),
                    " is in danger");
  } else if (!before.empty()) {
    absl::StrAppend(&text, "; before it: ", absl::StrJoin(before, ", "));
  }
  const auto unplaceable = unplaceable_at_.find({record.work_class, record.task.job});
  if (unplaceable != unplaceable_at_.end()) {
    absl::StrAppend(&text, "; ", DescribeMissing(work_class), "; given up in ",
                    FormatDuration(unplaceable->second - now));
  }
  return text;
}

std::string Core::ExplainSlot(const Slot& slot, const TaskRecord& record) const {
  const int index = slot.offer.index;
  const std::string& quarantine =
      slot.quarantine.empty() ? slot.worker->quarantine : slot.quarantine;
  if (!quarantine.empty()) return absl::StrCat("slot ", index, " is quarantined: ", quarantine);
  if (!slot.offer.accepting) {
    return absl::StrCat("slot ", index, " takes no work: ",
                        slot.offer.reason.empty() ? "drained" : slot.offer.reason);
  }
  for (const std::string& name : matcher_.at(record.work_class).Environments()) {
    const auto failing = slot.offer.failing.find(name);
    if (failing == slot.offer.failing.end()) continue;
    return absl::StrCat("environment ", failing->first, " fails its check on slot ", index, ": ",
                        failing->second);
  }
  if (slot.lease) {
    const Lease& lease = leases_.all().at(slot.lease);
    const Task& task = tasks_.at(*lease.outstanding.begin()).task;
    return absl::StrCat("slot ", index, " is busy with ", task.model, " (lease ", slot.lease.value,
                        ", ", lease.outstanding.size(), " to do)");
  }
  if (!record.failed_on.empty()) {
    if (!BetterElsewhere(slot, record.work_class, WaitingOf(record))) return "";
    if (record.failed_on.count({slot.worker->id, kEverySlot}) == 0) {
      return absl::StrCat("slot ", index,
                          " is free, but this worker failed it; another slot is preferred");
    }
  } else if (record.avoid != slot.worker->id) {
    return "";
  }
  return absl::StrCat("slot ", index, " is free, but it failed there; another worker is preferred");
}

std::string Core::ExplainSlots(const Worker& worker, const TaskRecord& record) const {
  std::set<std::string> parts;  // of those that fit
  std::set<std::string> misfits;
  bool fits = false;
  for (const auto& [index, slot] : worker.slots) {
    if (!slot->present) continue;
    bool build_need = false;
    const std::string why = WhyNot(matcher_.at(record.work_class), *slot, &build_need);
    if (!why.empty()) {
      misfits.insert(why);
      continue;
    }
    fits = true;
    const std::string part = ExplainSlot(*slot, record);
    if (!part.empty()) parts.insert(part);
  }
  if (!parts.empty()) return absl::StrJoin(parts, "; ");
  if (fits) return record.held ? "is free and could run it" : "is about to get work";
  return misfits.empty() ? "has no slots" : absl::StrJoin(misfits, "; ");
}

std::string Core::ExplainWorker(const Worker& worker, const TaskRecord& record,
                                MonotonicTime now) const {
  const std::string name = absl::StrCat("worker ", worker.id.value, ": ");
  if (record.lease && leases_.all().at(record.lease).slot->worker == &worker) {
    return absl::StrCat(name, "held it under lease ", record.lease.value,
                        ", which expired; it goes on if the worker comes back first");
  }
  const std::string heard =
      worker.last_beat.ns == 0
          ? ""
          : absl::StrCat(", last heard ", FormatDuration(now - worker.last_beat), " ago");
  if (!worker.connected) return absl::StrCat(name, "is not connected", heard);
  if (worker.silent) return absl::StrCat(name, "is connected but silent", heard);
  return absl::StrCat(name, ExplainSlots(worker, record));
}

std::vector<std::string> Core::ExplainWaiting(ExperimentId experiment, MonotonicTime now) const {
  const auto it = tasks_.find(experiment);
  if (it == tasks_.end() || it->second.state != TaskState::kWaiting) return {};
  const TaskRecord& record = it->second;
  std::vector<std::string> lines = {ExplainOrder(record, now)};
  if (fleet_.workers().empty()) {
    lines.push_back("no worker is connected");
    return lines;
  }
  const WorkClass& work_class = matcher_.at(record.work_class);
  if (work_class.capable == 0 && work_class.known > 0) {
    lines.push_back(absl::StrCat("no connected worker takes work for environment ",
                                 record.task.environment, " on ", record.task.device));
  }
  // Those that could run it say more than those that could not.
  std::vector<const Worker*> workers;
  for (const auto& [id, worker] : fleet_.workers()) workers.push_back(worker.get());
  const auto& capable = work_class.capable_by_worker;
  std::stable_partition(workers.begin(), workers.end(),
                        [&](const Worker* w) { return capable.count(w->id) > 0; });
  for (const Worker* worker : workers) {
    if (lines.size() == kLines) {
      lines.push_back(absl::StrCat("… and more: ", workers.size(), " workers in all"));
      break;
    }
    lines.push_back(ExplainWorker(*worker, record, now));
  }
  return lines;
}

Work Core::LeasedWork(const Job& job, MonotonicTime now, Eta* longest) const {
  std::map<LeaseEpoch, Work> by_lease;
  for (const ExperimentId experiment : job.leased) {
    const TaskRecord& record = tasks_.at(experiment);
    if (record.state != TaskState::kLeased) continue;
    double rest_s = record.task.expected_s;
    if (record.started) {
      rest_s = std::max(0.0, rest_s - static_cast<double>(now - record.started_at) / kNsPerSecond);
    }
    const double spread_s = WaitingOf(record).spread_s;
    by_lease[record.lease] += {rest_s, spread_s * spread_s};
  }
  Work sum;
  for (const auto& [epoch, work] : by_lease) {
    sum += work;
    longest->p50_s = std::max(longest->p50_s, work.expected_s);
    longest->p90_s = std::max(longest->p90_s, work.p90_s());
  }
  return sum;
}

// What other jobs will have been given before the last experiment of `job` in this class begins:
// all of what has precedence, and of each other submitter of the same priority as much as the own.
Work Core::AheadWork(const Job& job, int index, MonotonicTime now) const {
  const WorkClass& work_class = matcher_.at(index);
  const auto work_of = [&](const JobOrder& order) {
    const Job& other = jobs_.at(order.job);
    Eta ignored;
    return other.waiting.at(index).work() + LeasedWork(other, now, &ignored);
  };
  const double own_s = job.waiting.at(index).expected_s();
  Work ahead;
  for (const auto& [priority, level] : work_class.jobs.levels()) {
    if (priority > job.order.negative_priority) break;
    const bool same = priority == job.order.negative_priority;
    for (const auto& [user, orders] : level.by_user) {
      Work theirs;
      for (const JobOrder& order : orders) {
        if (same && user == job.user && order >= job.order) break;
        theirs += work_of(order);
      }
      // A part of what they have deviates by as large a part of its squares.
      if (same && user != job.user && theirs.expected_s > own_s) {
        theirs = {own_s, theirs.spread_square * own_s / theirs.expected_s};
      }
      ahead += theirs;
    }
  }
  return ahead;
}

Eta Core::EtaOf(JobId id, MonotonicTime now) const {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return {0, 0};
  const Job& job = it->second;
  Eta eta{0, 0};
  const auto at_least = [&eta](double p50_s, double p90_s) {
    eta.p50_s = std::max(eta.p50_s, p50_s);
    eta.p90_s = std::max(eta.p90_s, p90_s);
  };
  const Work leased = LeasedWork(job, now, &eta);
  for (const auto& [index, waiting] : job.waiting) {
    if (waiting.size() == 0) continue;
    const WorkClass& work_class = matcher_.at(index);
    if (work_class.capable == 0) return {};
    const Work all = leased + waiting.work() + AheadWork(job, index, now);
    const auto slots = static_cast<double>(work_class.capable);
    at_least(all.expected_s / slots, all.p90_s() / slots);
    at_least(waiting.longest().expected_s, waiting.longest().p90_s());
  }
  // Those that are held back after a failure: few, and in no waiting set.
  for (const auto& [until, experiment] : held_) {
    const TaskRecord& record = tasks_.at(experiment);
    if (record.task.job != id) continue;
    if (matcher_.at(record.work_class).capable == 0) return {};
    const double hold_s =
        std::max(0.0, static_cast<double>(record.held_until - now) / kNsPerSecond);
    at_least(hold_s + record.task.expected_s,
             hold_s + record.task.expected_s + WaitingOf(record).spread_s);
  }
  return eta;
}

}  // namespace dynbench::scheduler

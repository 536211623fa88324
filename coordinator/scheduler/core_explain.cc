#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/check.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {
namespace {

// A person reads this; the rest is counted.
constexpr size_t kLines = 20;

}  // namespace

std::string Core::ExplainSlots(const Worker& worker, const TaskRecord& record) const {
  std::vector<std::string> parts;
  std::set<std::string> devices;
  std::set<std::string> environments;
  bool device = false;
  for (const auto& [index, slot] : worker.slots) {
    if (!slot->present) continue;
    devices.insert(slot->offer.device);
    environments.insert(slot->offer.environments.begin(), slot->offer.environments.end());
    if (slot->offer.device != record.task.device) continue;
    device = true;
    if (slot->offer.environments.count(record.task.environment) == 0) continue;
    if (!slot->offer.accepting) {
      parts.push_back(absl::StrCat("slot ", index, " takes no work: ",
                                   slot->offer.reason.empty() ? "drained" : slot->offer.reason));
    } else if (slot->lease) {
      const Lease& lease = leases_.all().at(slot->lease);
      const Task& task = tasks_.at(*lease.outstanding.begin()).task;
      parts.push_back(absl::StrCat("slot ", index, " is busy with ", task.model, " (lease ",
                                   slot->lease.value, ", ", lease.outstanding.size(), " to do)"));
    } else if (record.avoid == worker.id) {
      parts.push_back(absl::StrCat("slot ", index,
                                   " is free, but it failed there; another worker is preferred"));
    }
  }
  if (devices.empty()) return "has no slots";
  if (!device) {
    return absl::StrCat("has no ", record.task.device, " slot (has: ", absl::StrJoin(devices, ", "),
                        ")");
  }
  if (environments.count(record.task.environment) == 0) {
    return absl::StrCat("does not have environment ", record.task.environment, " (has: ",
                        environments.empty() ? "none" : absl::StrJoin(environments, ", "), ")");
  }
  return parts.empty() ? "is about to get work" : absl::StrJoin(parts, "; ");
}

std::string Core::ExplainWorker(const Worker& worker, const TaskRecord& record) const {
  const std::string name = absl::StrCat("worker ", worker.id.value, ": ");
  if (record.lease && leases_.all().at(record.lease).slot->worker == &worker) {
    return absl::StrCat(name, "held it under lease ", record.lease.value,
                        ", which expired; it goes on if the worker comes back first");
  }
  if (!worker.connected) return absl::StrCat(name, "is not connected");
  if (worker.silent) return absl::StrCat(name, "is connected but silent");
  return absl::StrCat(name, ExplainSlots(worker, record));
}

std::vector<std::string> Core::ExplainWaiting(ExperimentId experiment) const {
  const auto it = tasks_.find(experiment);
  if (it == tasks_.end() || it->second.state != TaskState::kWaiting) return {};
  if (fleet_.workers().empty()) return {"no worker is connected"};
  const TaskRecord& record = it->second;
  std::vector<std::string> lines;
  if (matcher_.at(record.work_class).capable == 0) {
    lines.push_back(absl::StrCat("no connected worker takes work for environment ",
                                 record.task.environment, " on ", record.task.device));
  }
  // Those that could run it say more than those that could not.
  std::vector<const Worker*> workers;
  for (const auto& [id, worker] : fleet_.workers()) workers.push_back(worker.get());
  const auto& capable = matcher_.at(record.work_class).capable_by_worker;
  std::stable_partition(workers.begin(), workers.end(),
                        [&](const Worker* w) { return capable.count(w->id) > 0; });
  for (const Worker* worker : workers) {
    if (lines.size() == kLines) {
      lines.push_back(absl::StrCat("… and more: ", workers.size(), " workers in all"));
      break;
    }
    lines.push_back(ExplainWorker(*worker, record));
  }
  return lines;
}

double Core::LeasedSeconds(const Job& job, MonotonicTime now, double* longest) const {
  std::map<LeaseEpoch, double> by_lease;
  for (const ExperimentId experiment : job.leased) {
    const TaskRecord& record = tasks_.at(experiment);
    if (record.state != TaskState::kLeased) continue;
    double rest = record.task.expected_s;
    if (record.started) {
      rest = std::max(0.0, rest - static_cast<double>(now - record.started_at) / kNsPerSecond);
    }
    by_lease[record.lease] += rest;
  }
  double sum = 0;
  for (const auto& [epoch, seconds] : by_lease) {
    sum += seconds;
    *longest = std::max(*longest, seconds);
  }
  return sum;
}

double Core::EtaSeconds(JobId id, MonotonicTime now) const {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return 0;
  const Job& job = it->second;
  double eta = 0;
  const double leased = LeasedSeconds(job, now, &eta);
  for (const auto& [index, waiting] : job.waiting) {
    if (waiting.size() == 0) continue;
    const WorkClass& work_class = matcher_.at(index);
    if (work_class.capable == 0) return -1;
    // What waits there before it, and what the slots have to end first.
    double seconds = leased;
    for (const JobOrder& other : work_class.jobs) {
      const Job& ahead = jobs_.at(other.job);
      seconds += ahead.waiting.at(index).expected_s();
      if (other.job == id) break;
      double ignored = 0;
      seconds += LeasedSeconds(ahead, now, &ignored);
    }
    eta = std::max(eta, seconds / static_cast<double>(work_class.capable));
  }
  return eta;
}

}  // namespace dynbench::scheduler

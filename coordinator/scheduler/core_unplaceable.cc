// Experiments that no known worker could ever run. They wait for one to become known, for a grace
// that is the job's, and are concluded then with what is missing. A worker that is away, drained or
// quarantined is known: experiments wait for it without end.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {
namespace {

// Workers named in one reason.
constexpr size_t kNamed = 3;

MonotonicTime After(MonotonicTime now, int64_t grace_ns) {
  if (grace_ns > std::numeric_limits<int64_t>::max() - now.ns) {
    return {std::numeric_limits<int64_t>::max()};
  }
  return now + std::max<int64_t>(grace_ns, 0);
}

}  // namespace

std::string WhyNot(const WorkClass& work_class, const Slot& slot, bool* build_need) {
  const SlotOffer& offer = slot.offer;
  *build_need = false;
  if (offer.device != work_class.device) {
    return absl::StrCat("has no ", work_class.device, " slot (has: ", offer.device, ")");
  }
  const std::vector<std::string> environments = work_class.Environments();
  for (const std::string& name : environments) {
    if (offer.environments.count(name) > 0) continue;
    return absl::StrCat(
        "does not have environment ", name,
        " (has: ", offer.environments.empty() ? "none" : absl::StrJoin(offer.environments, ", "),
        ")");
  }
  for (const std::string& name : environments) {
    std::string missing =
        plan::MissingRequirement(work_class.needs, offer.labels, offer.FactsOf(name));
    if (!missing.empty()) return missing;
  }
  for (const std::string& name : environments) {
    const std::string missing = plan::MissingBuildNeed(work_class.needs, offer.FactsOf(name));
    if (missing.empty()) continue;
    *build_need = true;
    return absl::StrCat("environment ", name, " has ", missing);
  }
  return "";
}

Core::Missing Core::MissingFor(const WorkClass& work_class) const {
  Missing missing = Missing::kPlace;
  for (const auto& [id, worker] : fleet_.workers()) {
    for (const auto& [index, slot] : worker->slots) {
      if (!slot->present) continue;
      bool build_need = false;
      if (WhyNot(work_class, *slot, &build_need).empty()) return Missing::kNothing;
      if (build_need) missing = Missing::kBuildNeed;
    }
  }
  return missing;
}

std::string Core::DescribeMissing(const WorkClass& work_class) const {
  std::vector<std::string> parts;
  size_t more = 0;
  for (const auto& [id, worker] : fleet_.workers()) {
    std::set<std::string> reasons;  // slots of one worker mostly agree
    for (const auto& [index, slot] : worker->slots) {
      bool build_need = false;
      if (slot->present) reasons.insert(WhyNot(work_class, *slot, &build_need));
    }
    if (reasons.empty()) continue;
    if (parts.size() == kNamed) {
      ++more;
    } else {
      parts.push_back(absl::StrCat("worker ", id.value, " ", absl::StrJoin(reasons, " and ")));
    }
  }
  if (more > 0) parts.push_back(absl::StrCat("and ", more, " more"));
  const std::vector<std::string> environments = work_class.Environments();
  std::string wanted = absl::StrCat(work_class.device, ", environment ",
                                    absl::StrJoin(environments, " and environment "));
  for (const std::string& text : work_class.needs.requirements) {
    absl::StrAppend(&wanted, ", ", text);
  }
  for (const std::string& word : work_class.needs.capabilities) {
    absl::StrAppend(&wanted, ", capability ", word);
  }
  if (parts.empty()) {
    return absl::StrCat("no worker is known; needed: ", wanted,
                        ". Start a worker that has it, or submit with other requirements");
  }
  return absl::StrCat("no known worker has what it needs (", wanted,
                      "): ", absl::StrJoin(parts, "; "));
}

void Core::ArmUnplaceable(int index, const Job& job) {
  const std::pair<int, JobId> key(index, job.order.job);
  if (unplaceable_at_.count(key) > 0) return;
  const bool build_need = MissingFor(matcher_.at(index)) == Missing::kBuildNeed;
  const int64_t grace_ns = build_need
                               ? std::min(options_.build_need_grace_ns, job.unplaceable_grace_ns)
                               : job.unplaceable_grace_ns;
  const MonotonicTime at = After(now_, grace_ns);
  unplaceable_at_[key] = at;
  unplaceable_.insert({at, index, key.second});
}

void Core::DisarmUnplaceable(int index) {
  auto it = unplaceable_at_.lower_bound({index, JobId(std::numeric_limits<int64_t>::min())});
  while (it != unplaceable_at_.end() && it->first.first == index) {
    unplaceable_.erase({it->second, index, it->first.second});
    it = unplaceable_at_.erase(it);
  }
}

void Core::ReviewUnplaceable() {
  for (const int index : matcher_.TakeKnownChanges()) {
    const WorkClass& work_class = matcher_.at(index);
    if (work_class.known > 0) {
      DisarmUnplaceable(index);
      continue;
    }
    for (const auto& [priority, level] : work_class.jobs.levels()) {
      for (const auto& [user, orders] : level.by_user) {
        for (const JobOrder& order : orders) ArmUnplaceable(index, jobs_.at(order.job));
      }
    }
  }
  if (!std::exchange(review_unplaceable_, false)) return;
  // An environment that became known without what the experiment is made of: no reason to wait on.
  for (auto& [key, at] : unplaceable_at_) {
    const MonotonicTime sooner = After(now_, options_.build_need_grace_ns);
    if (at <= sooner || MissingFor(matcher_.at(key.first)) != Missing::kBuildNeed) continue;
    unplaceable_.erase({at, key.first, key.second});
    at = sooner;
    unplaceable_.insert({at, key.first, key.second});
  }
}

void Core::ExpireUnplaceable() {
  while (!unplaceable_.empty() && std::get<0>(*unplaceable_.begin()) <= now_) {
    const auto [at, index, job] = *unplaceable_.begin();
    unplaceable_.erase(unplaceable_.begin());
    unplaceable_at_.erase({index, job});
    ConcludeUnplaceable(index, job);
  }
}

void Core::ConcludeUnplaceable(int index, JobId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  std::vector<ExperimentId> waiting;
  for (const ExperimentId experiment : job->second.tasks) {
    const TaskRecord& record = tasks_.at(experiment);
    // One that a lapsed lease still names may come back with its worker.
    if (record.work_class == index && record.state == TaskState::kWaiting && !record.lease) {
      waiting.push_back(experiment);
    }
  }
  if (waiting.empty()) return;
  const WorkClass& work_class = matcher_.at(index);
  const std::string reason = DescribeMissing(work_class);
  const bool skipped = MissingFor(work_class) == Missing::kBuildNeed;
  for (const ExperimentId experiment : waiting) {
    if (skipped) {
      ConcludeTask(Find(experiment), plan::Outcome::kSkipped, "skipped", plan::Blame::kNone,
                   reason);
    } else {
      ConcludeTask(Find(experiment), plan::Outcome::kLost, "unplaceable",
                   plan::Blame::kInfrastructure, reason);
    }
  }
}

std::vector<std::string> Core::Unplaceable(const std::vector<Task>& tasks) const {
  std::map<std::tuple<std::string, std::string, plan::Needs>, size_t> kinds;
  for (const Task& task : tasks) ++kinds[{task.device, task.environment, task.needs}];
  std::vector<std::string> lines;
  for (const auto& [kind, count] : kinds) {
    WorkClass work_class;
    std::tie(work_class.device, work_class.environment, work_class.needs) = kind;
    if (MissingFor(work_class) == Missing::kNothing) continue;
    lines.push_back(absl::StrCat(
        count, count == 1 ? " experiment: " : " experiments: ", DescribeMissing(work_class)));
  }
  return lines;
}

}  // namespace dynbench::scheduler

#include <algorithm>

#include "common/base/check.h"
#include "coordinator/scheduler/core.h"

namespace dynbench::scheduler {

void Core::CheckTasks() const {
  std::map<JobId, size_t> tasks;
  std::map<std::pair<JobId, int>, size_t> waiting;
  for (const auto& [id, record] : tasks_) {
    const Job& job = jobs_.at(record.task.job);
    ++tasks[record.task.job];
    CHECK(job.tasks.count(id) == 1) << "experiment " << id;
    CHECK_EQ(job.leased.count(id) == 1, static_cast<bool>(record.lease)) << "experiment " << id;
    CHECK_EQ(held_.count({record.held_until, id}) == 1, record.held) << "experiment " << id;
    CHECK(!record.held || !record.lease) << "experiment " << id << " is held back and leased";
    const bool waits = record.state == TaskState::kWaiting && !record.held;
    if (waits) ++waiting[{record.task.job, record.work_class}];
    const auto set = job.waiting.find(record.work_class);
    CHECK(set != job.waiting.end());
    CHECK_EQ(set->second.Contains(GroupOf(record), record.task.partition, WaitingOf(record)), waits)
        << "experiment " << id;
    if (!record.lease) {
      CHECK(record.state == TaskState::kWaiting)
          << "experiment " << id << " is neither waiting nor leased";
      continue;
    }
    const auto lease = leases_.all().find(record.lease);
    CHECK(lease != leases_.all().end()) << "experiment " << id << " lease " << record.lease;
    CHECK(lease->second.outstanding.count(id) == 1) << "experiment " << id;
    CHECK_EQ(lease->second.lapsed, waits) << "experiment " << id;
  }
  for (const auto& [id, job] : jobs_) {
    CHECK_EQ(job.tasks.size(), tasks[id]) << "job " << id;
    for (const auto& [index, set] : job.waiting) {
      CHECK_EQ(set.size(), (waiting[{id, index}])) << "job " << id;
      CHECK_EQ(matcher_.at(index).jobs.Contains(job), set.size() > 0) << "job " << id;
    }
  }
}

void Core::CheckLeases() const {
  std::set<ExperimentId> seen;
  for (const auto& [epoch, lease] : leases_.all()) {
    CHECK(epoch < leases_.next()) << "lease " << epoch;
    CHECK(!lease.outstanding.empty()) << "lease " << epoch << " is empty";
    CHECK(lease.slot->lease == epoch) << "lease " << epoch << " and its slot disagree";
    CHECK(lease.slot->worker->leases.count(epoch) == 1) << "lease " << epoch;
    for (const ExperimentId experiment : lease.outstanding) {
      CHECK(seen.insert(experiment).second) << "experiment " << experiment << " is leased twice";
      CHECK(tasks_.at(experiment).lease == epoch) << "experiment " << experiment;
    }
    CHECK(lease.lapsed || fleet_.armed(*lease.slot->worker)) << "lease " << epoch;
  }
}

void Core::CheckSlots() const {
  std::vector<size_t> capable(static_cast<size_t>(matcher_.size()));
  std::vector<size_t> idle(static_cast<size_t>(matcher_.size()));
  std::vector<size_t> known(static_cast<size_t>(matcher_.size()));
  for (const auto& [id, worker] : fleet_.workers()) {
    for (const auto& [index, slot] : worker->slots) {
      CHECK(!slot->lease || leases_.all().at(slot->lease).slot == slot.get());
      CHECK_EQ(slot->eligible, slot->CanTakeWork());
      for (int c = 0; slot->present && c < matcher_.size(); ++c) {
        if (matcher_.at(c).Matches(*slot)) ++known[static_cast<size_t>(c)];
      }
      if (!slot->eligible) continue;
      for (int c = 0; c < matcher_.size(); ++c) {
        if (!matcher_.at(c).Matches(*slot) || matcher_.at(c).FailsOn(*slot)) continue;
        ++capable[static_cast<size_t>(c)];
        if (!slot->lease) ++idle[static_cast<size_t>(c)];
      }
      // No idle slot that something waits for.
      CHECK(slot->lease || ChooseFor(*slot).empty()) << "worker " << id << " slot " << index;
    }
  }
  for (int c = 0; c < matcher_.size(); ++c) {
    CHECK_EQ(matcher_.at(c).capable, capable[static_cast<size_t>(c)]) << "class " << c;
    CHECK_EQ(matcher_.at(c).known, known[static_cast<size_t>(c)]) << "class " << c;
    CHECK_EQ(matcher_.at(c).idle.size(), idle[static_cast<size_t>(c)]) << "class " << c;
  }
}

void Core::CheckTimers() const {
  CHECK_EQ(unplaceable_.size(), unplaceable_at_.size());
  for (const auto& [key, at] : unplaceable_at_) {
    CHECK(unplaceable_.count({at, key.first, key.second}) == 1);
    CHECK_EQ(matcher_.at(key.first).known, size_t{0}) << "class " << key.first;
    CHECK(at > now_) << "job " << key.second << " should have been concluded";
  }
  CHECK(held_.empty() || held_.begin()->first > now_);
  // Whatever nobody can run has its end in sight.
  for (const auto& [id, job] : jobs_) {
    for (const auto& [index, set] : job.waiting) {
      if (set.size() == 0 || matcher_.at(index).known > 0) continue;
      const auto lapsed = [&](ExperimentId experiment) {
        return static_cast<bool>(tasks_.at(experiment).lease);
      };
      CHECK(unplaceable_at_.count({index, id}) == 1 ||
            std::any_of(job.tasks.begin(), job.tasks.end(), lapsed))
          << "job " << id << " waits without end";
    }
  }
}

void Core::CheckInvariants() const {
  CheckTasks();
  CheckLeases();
  CheckSlots();
  CheckTimers();
}

}  // namespace dynbench::scheduler

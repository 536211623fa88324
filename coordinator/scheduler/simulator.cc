#include "coordinator/scheduler/simulator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"

namespace dynbench::scheduler {
namespace {

constexpr JobId kJob(1);
// Nothing is ever lost here, so no lease needs a beat.
constexpr int64_t kNoExpiryNs = int64_t{10} * 365 * 24 * 3600 * kNsPerSecond;

int64_t ToNs(double seconds) {
  return static_cast<int64_t>(seconds * static_cast<double>(kNsPerSecond));
}

class Run {
 public:
  explicit Run(const SimulatedNight& night) : night_(night), scheduler_(MakeOptions()) {
    for (const SimulatedTask& task : night.tasks) tasks_[task.task.id] = &task;
  }

  Simulation Go() {
    std::map<WorkerId, WorkerJoined> workers;
    for (const SimulatedSlot& slot : night_.slots) {
      WorkerJoined& event = workers[slot.worker];
      event.worker = slot.worker;
      event.slots.push_back(slot.offer);
    }
    for (const auto& [id, event] : workers) Do(event);
    JobAdded job{kJob, night_.policy, 0, {}};
    for (const SimulatedTask& task : night_.tasks) job.tasks.push_back(task.task);
    result_.unplaceable = scheduler_.Unplaceable(job.tasks);
    job.unplaceable_grace_ns = 0;  // told above
    Do(job);
    while (!ends_.empty()) {
      const End end = ends_.top();
      ends_.pop();
      now_ = end.at;
      Finish(end);
    }
    Summarize();
    return std::move(result_);
  }

 private:
  struct End {
    MonotonicTime at;
    int64_t sequence;  // among equal times, as they began
    AttemptId attempt;
    SlotId slot;
    bool operator>(const End& other) const {
      return std::tie(at, sequence) > std::tie(other.at, other.sequence);
    }
  };

  static Options MakeOptions() {
    Options options;
    options.lease_ttl_ns = kNoExpiryNs;
    options.build_need_grace_ns = 0;
    return options;
  }

  void Do(const Event& event) {
    for (const Action& action : scheduler_.Step(now_, event)) {
      if (const auto* grant = std::get_if<Grant>(&action)) {
        std::deque<ExperimentId>& lease = leases_[grant->slot];
        CHECK(lease.empty()) << "two leases of one slot";
        lease.assign(grant->experiments.begin(), grant->experiments.end());
        result_.moved += grant->moved.size();
        Begin(grant->slot, grant->epoch, night_.assignment_s);
      }
    }
  }

  void Begin(const SlotId& slot, LeaseEpoch epoch, double delay_s) {
    const SimulatedTask& task = *tasks_.at(leases_.at(slot).front());
    const AttemptId attempt{task.task.id, epoch};
    ends_.push({now_ + ToNs(delay_s + task.actual_s), next_++, attempt, slot});
    result_.busy_s += task.actual_s;
    longest_s_ = std::max(longest_s_, task.actual_s);
    ++result_.experiments;
    result_.ran_on[task.task.id] = slot;
  }

  void Finish(const End& end) {
    std::deque<ExperimentId>& lease = leases_.at(end.slot);
    lease.pop_front();
    last_ = end.attempt.experiment;
    if (!lease.empty()) Begin(end.slot, end.attempt.lease, 0);
    Do(Finished{end.attempt});
  }

  void Summarize() {
    for (const SimulatedSlot& slot : night_.slots) result_.slots += slot.offer.accepting ? 1 : 0;
    result_.makespan_s = static_cast<double>(now_.ns) / static_cast<double>(kNsPerSecond);
    if (last_) result_.critical_model = tasks_.at(last_)->task.model;
    if (result_.slots == 0) return;
    const double slots = static_cast<double>(result_.slots);
    result_.lower_bound_s = std::max(longest_s_, result_.busy_s / slots);
    if (result_.makespan_s > 0) {
      result_.idle_share = 1 - result_.busy_s / (slots * result_.makespan_s);
    }
  }

  const SimulatedNight& night_;
  Scheduler scheduler_;
  std::map<ExperimentId, const SimulatedTask*> tasks_;
  std::map<SlotId, std::deque<ExperimentId>> leases_;  // what each slot has still to run
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  MonotonicTime now_;
  int64_t next_ = 0;
  double longest_s_ = 0;
  ExperimentId last_;
  Simulation result_;
};

}  // namespace

Simulation Simulate(const SimulatedNight& night) { return Run(night).Go(); }

double MakespanP90(const SimulatedNight& night, size_t nights, uint64_t seed) {
  constexpr double kZ90 = 1.2815515655446004;  // the 90 % quantile of the normal distribution
  const size_t most = kMostDrawn / std::max<size_t>(1, night.tasks.size());
  nights = std::min(nights, std::max(kLeastNights, most));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> makespans;
  for (size_t i = 0; i < nights; ++i) {
    SimulatedNight drawn = night;
    for (SimulatedTask& task : drawn.tasks) {
      const double z = normal(random);
      if (task.task.expected_s <= 0 || task.task.p90_s <= task.task.expected_s) continue;
      task.actual_s *= std::exp(z * std::log(task.task.p90_s / task.task.expected_s) / kZ90);
    }
    makespans.push_back(Simulate(drawn).makespan_s);
  }
  std::sort(makespans.begin(), makespans.end());
  // The smallest that at least nine in ten do not exceed.
  const auto rank = static_cast<size_t>(std::ceil(0.9 * static_cast<double>(makespans.size())));
  return makespans.empty() ? 0 : makespans[std::max<size_t>(rank, 1) - 1];
}

SimulatedNight WithExtraSlots(SimulatedNight night, int extra) {
  // Asked of the scheduler itself: which slot alone can take one of the tasks?
  std::vector<Task> tasks;
  for (const SimulatedTask& task : night.tasks) tasks.push_back(task.task);
  const SimulatedSlot* model = nullptr;
  for (const SimulatedSlot& slot : night.slots) {
    if (!slot.offer.accepting) continue;
    Scheduler alone{Options()};
    (void)alone.Step({}, WorkerJoined{slot.worker, {slot.offer}, {}});
    const bool some = std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
      return alone.Unplaceable({task}).empty();
    });
    if (!some) continue;
    model = &slot;
    break;
  }
  if (model == nullptr) return night;
  const SimulatedSlot like = *model;
  for (int i = 0; i < extra; ++i) {
    SimulatedSlot slot = like;
    slot.worker = WorkerId(absl::StrCat("extra-", i + 1));
    slot.offer.index = 0;
    night.slots.push_back(std::move(slot));
  }
  return night;
}

}  // namespace dynbench::scheduler

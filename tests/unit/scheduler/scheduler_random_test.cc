// Method: a fleet that behaves as badly as it can, at random from a seed that is printed and can be
// given as DYNBENCH_TEST_SEED. A model of the store (what is committed, in which order) accepts
// results by the store's rule. Invariants hold after every event; at the end the fleet behaves, and
// every experiment must have been concluded exactly once.
#include <cstdlib>
#include <random>

#include "tests/unit/scheduler/rig.h"

namespace dynbench::scheduler {
namespace {

uint64_t BaseSeed() {
  if (const char* text = std::getenv("DYNBENCH_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

constexpr int kWorkers = 6;
constexpr int kSlots = 2;

struct VirtualWorker {
  bool up = false;
  // What its process knows: the experiments of each lease and what of them has begun.
  std::map<LeaseEpoch, std::pair<int, std::set<ExperimentId>>> leases;
  std::set<ExperimentId> running;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {}

  void Run(int events) {
    for (int i = 0; i < events; ++i) OneEvent();
    BehaveUntilDone();
  }

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  static WorkerId Name(int w) { return WorkerId("w" + std::to_string(w)); }
  VirtualWorker& WorkerOf(const WorkerId& id) {
    return workers_[static_cast<size_t>(std::stoi(id.value.substr(1)))];
  }

  void Do(const Event& event) {
    rig_.Do(event);
    for (const Action& action : rig_.actions) std::visit([this](const auto& a) { Act(a); }, action);
  }
  void Act(const Grant& grant) {
    ASSERT_GT(grant.epoch, last_epoch_);
    last_epoch_ = grant.epoch;
    VirtualWorker& worker = WorkerOf(grant.slot.worker);
    ASSERT_TRUE(worker.up) << "granted to a worker that is not connected";
    for (const ExperimentId id : grant.experiments) {
      ASSERT_FALSE(current_.count(id)) << "experiment " << id << " was not requeued before";
      ASSERT_FALSE(done_.count(id)) << "experiment " << id;
      current_[id] = grant.epoch;
    }
    worker.leases[grant.epoch] = {grant.slot.index,
                                  {grant.experiments.begin(), grant.experiments.end()}};
  }
  void Act(const Revoke& revoke) {
    if (Pick(10) == 0) return;  // it arrives too late
    for (const ExperimentId id : revoke.experiments) {
      Drop(&WorkerOf(revoke.worker), revoke.epoch, id);
    }
  }
  void Act(const Conclude& conclude) {
    ASSERT_TRUE(done_.insert(conclude.experiment).second) << conclude.experiment;
    current_.erase(conclude.experiment);
  }
  void Act(const Requeue& requeue) {
    ASSERT_EQ(current_[requeue.experiment], requeue.fenced);
    current_.erase(requeue.experiment);
  }
  void Act(const CloseLease& close) { ASSERT_TRUE(closed_.insert(close.epoch).second); }
  void Act(const Quarantine& stopped) { ASSERT_FALSE(stopped.reason.empty()); }
  void Act(const ReportCluster& cluster) { ASSERT_GT(cluster.failures, 0); }

  static void Drop(VirtualWorker* worker, LeaseEpoch epoch, ExperimentId id) {
    const auto it = worker->leases.find(epoch);
    if (it == worker->leases.end()) return;
    it->second.second.erase(id);
    if (it->second.second.empty()) worker->leases.erase(it);
    worker->running.erase(id);
  }

  // The store's rule: it counts when its lease is the current one and there is no result.
  void Report(AttemptId attempt) {
    const auto it = current_.find(attempt.experiment);
    if (it == current_.end() || it->second != attempt.lease) return;
    ASSERT_TRUE(done_.insert(attempt.experiment).second);
    current_.erase(it);
    Do(Finished{attempt});
  }

  void Join(int w) {
    VirtualWorker& worker = workers_[static_cast<size_t>(w)];
    WorkerJoined event{Name(w), {}, {}};
    for (int s = 0; s < kSlots; ++s) {
      event.slots.push_back(MakeSlot(s, w % 2 == 0 ? std::set<std::string>{"default", "nightly"}
                                                   : std::set<std::string>{"default"}));
      event.slots.back().labels["pool"] = w % 3 == 0 ? "a" : "b";
      // Not every build has everything.
      if (w % 2 == 1) event.slots.back().facts["default"].capabilities = {"aot_inductor"};
    }
    for (const auto& [epoch, lease] : worker.leases) {
      event.held.push_back({epoch, lease.first, {lease.second.begin(), lease.second.end()}});
    }
    worker.up = true;
    Do(event);
  }
  void Die(int w) {
    VirtualWorker& worker = workers_[static_cast<size_t>(w)];
    const std::set<ExperimentId> running = std::exchange(worker.running, {});
    worker.leases.clear();
    Do(WorkerDied{Name(w), running});
    if (worker.up || Pick(2) == 0) Join(w);
  }
  void Submit() {
    const JobId job(next_job_++);
    std::vector<Task> tasks;
    const int n = 1 + Pick(12);
    for (int i = 0; i < n; ++i) {
      Task task = MakeTask(next_experiment_++, "m" + std::to_string(Pick(4)), Pick(50));
      if (Pick(4) == 0) task.environment = "nightly";
      task.partition = Pick(3);
      if (Pick(6) == 0) task.needs.requirements = {Pick(3) == 0 ? "pool=c" : "pool=a"};
      if (Pick(6) == 0) task.needs.capabilities = {"nativert"};
      if (Pick(2) == 0) task.home = Name(Pick(kWorkers));
      tasks.push_back(task);
      planned_.insert(task.id);
    }
    JobAdded event{job, static_cast<plan::PartitionPolicy>(Pick(3)), Pick(2), tasks};
    event.user = "u" + std::to_string(Pick(3));
    if (Pick(3) == 0) event.deadline = rig_.now + Pick(500) * kNsPerSecond;
    if (Pick(3) == 0) event.unplaceable_grace_ns = Pick(100) * kNsPerSecond;
    Do(event);
  }
  // A random attempt that some worker holds, or none.
  AttemptId Held(const VirtualWorker& worker) {
    if (worker.leases.empty()) return {};
    auto lease = worker.leases.begin();
    std::advance(lease, Pick(static_cast<int>(worker.leases.size())));
    auto id = lease->second.second.begin();
    std::advance(id, Pick(static_cast<int>(lease->second.second.size())));
    return {*id, lease->first};
  }

  void OneEvent() {
    rig_.Advance(Pick(20));
    const int w = Pick(kWorkers);
    VirtualWorker& worker = workers_[static_cast<size_t>(w)];
    const AttemptId held = Held(worker);
    switch (Pick(18)) {
      case 16: {
        const int slot = Pick(kSlots + 1) - 1;
        return Pick(3) > 0 ? Do(Released{Name(w), slot}) : Do(Quarantined{Name(w), slot, "tired"});
      }
      case 17:
        return Do(WorkerKnown{Name(w), {MakeSlot(0)}});
      case 0:
        return Submit();
      case 1:
        return worker.up ? Leave(w) : Join(w);
      case 2:
        return Join(w);  // again, without having left
      case 3:
        return Die(w);
      case 4:
        return Do(Tick{});
      case 5:
        return Do(Resumed{});
      case 6:
        return Do(JobCancelled{JobId(1 + Pick(static_cast<int>(next_job_))), "no"});
      case 7:
      case 8:
        return Do(Beat{Name(w)});
      case 9:
        return GiveBack(w, held);
      case 10:
        return ChangeSlots(w);
      case 11:
        if (!held.experiment) return;
        worker.running.insert(held.experiment);
        return Do(Started{held});
      case 12:  // an old result once more, after whatever happened to its lease
        if (!old_.empty()) Report(old_[static_cast<size_t>(Pick(static_cast<int>(old_.size())))]);
        return;
      default:
        if (!held.experiment) return;
        Drop(&worker, held.lease, held.experiment);
        old_.push_back(held);
        return Report(held);
    }
  }
  void Leave(int w) {
    workers_[static_cast<size_t>(w)].up = false;
    Do(WorkerLeft{Name(w)});
  }
  void GiveBack(int w, AttemptId held) {
    VirtualWorker& worker = workers_[static_cast<size_t>(w)];
    if (!worker.up || !held.experiment) return;
    Drop(&worker, held.lease, held.experiment);
    Returned event{held, "trouble", Pick(2) == 0, "trouble " + std::to_string(Pick(2))};
    const char* const statuses[] = {"", "", "device_lost", "no_space", "download_failed"};
    event.status = statuses[Pick(5)];
    Do(event);
  }
  void ChangeSlots(int w) {
    if (!workers_[static_cast<size_t>(w)].up) return;
    std::vector<SlotOffer> slots;
    for (int s = 0; s < Pick(kSlots + 1); ++s) {
      slots.push_back(MakeSlot(s));
      slots.back().accepting = Pick(3) > 0;
    }
    Do(SlotsChanged{Name(w), slots});
  }

  void BehaveUntilDone() {
    for (int round = 0; round < 500 && done_.size() < planned_.size(); ++round) {
      rig_.Advance(60);  // what is held back, and the wait for a worker that does not exist, ends
      for (int w = 0; w < kWorkers; ++w) {
        Do(Released{Name(w)});
        Join(w);
        const auto leases = workers_[static_cast<size_t>(w)].leases;
        for (const auto& [epoch, lease] : leases) {
          for (const ExperimentId id : lease.second) {
            Drop(&workers_[static_cast<size_t>(w)], epoch, id);
            Report({id, epoch});
          }
        }
      }
    }
    EXPECT_EQ(done_, planned_);
    EXPECT_TRUE(current_.empty());
    EXPECT_EQ(static_cast<int64_t>(closed_.size()), last_epoch_.value) << "every lease was closed";
  }

  std::mt19937_64 random_;
  Rig rig_;
  std::vector<VirtualWorker> workers_{kWorkers};
  std::map<ExperimentId, LeaseEpoch> current_;
  std::set<ExperimentId> planned_, done_;
  std::set<LeaseEpoch> closed_;
  std::vector<AttemptId> old_;
  LeaseEpoch last_epoch_;
  int64_t next_job_ = 1;
  int64_t next_experiment_ = 1;
};

TEST(SchedulerRandom, EveryExperimentIsConcludedExactlyOnce) {
  const uint64_t base = BaseSeed();
  for (uint64_t seed = base; seed < base + 6; ++seed) {
    SCOPED_TRACE("DYNBENCH_TEST_SEED=" + std::to_string(seed));
    std::printf("DYNBENCH_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);  // also when an invariant aborts
    World(seed).Run(1'000);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynbench::scheduler

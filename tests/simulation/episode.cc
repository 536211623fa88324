#include "tests/simulation/episode.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"

namespace dynbench::simulation {
namespace {

// Once nothing breaks any more a fleet must end its jobs in this time, whatever state it was left
// in: far longer than all the work and every retry of these scenarios, far shorter than for ever.
constexpr int64_t kPatienceNs = int64_t{24} * 3'600 * kNsPerSecond;
constexpr int64_t kLookNs = 5 * kNsPerSecond;

}  // namespace

Episode::Episode(const Scenario* scenario, uint64_t seed) : scenario_(scenario), world_(seed) {
  auto db = store::Database::OpenInMemory();
  CHECK(db.ok()) << db.status();
  db_ = *std::move(db);
  oracle_ = std::make_unique<Oracle>(&world_, db_.get());
  coordinator_ = std::make_unique<Coordinator>(&world_, scenario, db_.get(), oracle_.get());
  const auto workers = static_cast<int>(world_.random.WholeIn(scenario->workers));
  for (int i = 0; i < workers; ++i) {
    const auto slots = static_cast<int>(world_.random.WholeIn(scenario->slots));
    workers_.push_back(std::make_unique<Worker>(&world_, scenario, coordinator_.get(),
                                                oracle_.get(), i, slots, i % 2 == 0));
  }
  client_ = std::make_unique<Client>(&world_, scenario, coordinator_.get(), oracle_.get());
  faults_ = std::make_unique<Faults>(&world_, scenario, coordinator_.get(), &workers_);
}

bool Episode::Finished() const { return client_->done() && oracle_->open() == 0; }

Report Episode::Run() {
  coordinator_->Start();
  for (const auto& worker : workers_) {
    world_.timeline.After(world_.random.Below(2 * kNsPerSecond), [w = worker.get()] { w->Boot(); });
  }
  client_->Start();
  faults_->Start();
  const MonotonicTime begun = world_.now();
  const MonotonicTime limit =
      begun + static_cast<int64_t>(scenario_->faults_for_s * kNsPerSecond) + kPatienceNs;
  while (!world_.violated() && !Finished()) {
    if (world_.now() > limit) {
      world_.Violate(
          absl::StrCat(oracle_->open(), " experiments are lost:", oracle_->DescribeOpen()));
    }
    if (!world_.timeline.RunNext()) world_.Violate("nothing happens any more");
  }
  const double simulated_s =
      static_cast<double>(world_.now() - begun) / static_cast<double>(kNsPerSecond);
  if (!world_.violated()) CheckEnd();
  Report report;
  report.experiments = oracle_->planned();
  report.attempts = oracle_->attempts_begun();
  report.superseded = oracle_->superseded();
  report.simulated_s = simulated_s;
  report.trace_hash = world_.trace_hash();
  report.violation = world_.violation();
  if (world_.violated()) report.trace = world_.Trace();
  return report;
}

void Episode::CheckEnd() {
  faults_->End();
  const MonotonicTime limit =
      std::max(world_.now(), coordinator_->disk()->full_until) + kPatienceNs;
  MonotonicTime settled = world_.now();
  const auto owed = [this] {
    return std::count_if(workers_.begin(), workers_.end(),
                         [](const auto& worker) { return !worker->settled(); });
  };
  // An environment that was asked for comes to all.
  const auto lacking = [this] {
    const std::set<std::string>& wanted = coordinator_->environments();
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
      return std::any_of(wanted.begin(), wanted.end(),
                         [&](const std::string& id) { return !worker->HasEnvironment(id); });
    });
  };
  while (!world_.violated() && world_.now() < limit) {
    const MonotonicTime look = world_.now() + kLookNs;
    while (world_.now() < look && world_.timeline.RunNext()) {
    }
    if (owed() > 0 || lacking() || !coordinator_->up()) settled = world_.now();
    if (world_.now() - settled >= kLookNs) break;
  }
  if (owed() > 0) {
    world_.Violate(absl::StrCat(owed(), " workers still have results that nobody acknowledged"));
  }
  if (lacking()) world_.Violate("a worker lacks an environment that was asked for");
  oracle_->CheckWhole();
}

}  // namespace dynbench::simulation

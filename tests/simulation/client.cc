#include "tests/simulation/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plan/pairs.h"

namespace dynbench::simulation {
namespace {

constexpr int64_t kAskAgainNs = 2 * kNsPerSecond;

}  // namespace

Client::Client(World* world, const Scenario* scenario, Coordinator* coordinator, Oracle* oracle)
    : world_(world), scenario_(scenario), coordinator_(coordinator), oracle_(oracle) {}

store::NewJob Client::MakeJob(int number) {
  Random& random = world_->random;
  store::NewJob job;
  job.request.suite = "simulated";
  job.request.label = absl::StrCat("job ", number);
  job.request.priority = static_cast<int>(random.Below(3)) - 1;
  job.idempotency_key = absl::StrCat("key ", number);
  job.submitted_at = world_->unix_now();
  const int64_t models = random.WholeIn(scenario_->models);
  const int64_t experiments = random.WholeIn(scenario_->experiments);
  if (scenario_->pairs > 0 && random.Chance(scenario_->pairs)) {
    MakePairs(models, experiments, &job);
    return job;
  }
  if (random.Chance(scenario_->balanced)) {
    job.request.policy = plan::PartitionPolicy::kBalanced;
    // Dozens of experiments each, or thousands of workers would beat for hours while eight work.
    job.plan.partitions = static_cast<int>(std::max(random.WholeIn({2, 8}), experiments / 40));
  }
  for (int64_t i = 0; i < experiments; ++i) {
    plan::Experiment& e = job.plan.experiments.emplace_back();
    e.suite = "simulated";
    e.model = absl::StrCat("model_", random.Below(models));
    e.configuration = absl::StrCat("configuration_", i);
    e.test = random.Chance(0.5) ? plan::Test::kPerformance : plan::Test::kAccuracy;
    if (random.Chance(scenario_->nightly)) e.environment = "nightly";
    e.source.loader = "timm";
    e.source.name = e.model;
    e.partition = static_cast<int>(i % job.plan.partitions);
  }
  return job;
}

// Of about as many experiments as another job; a third of them need both environments.
void Client::MakePairs(int64_t models, int64_t experiments, store::NewJob* job) {
  Random& random = world_->random;
  job->request.base = "default";
  job->request.fresh = random.Chance(0.3) ? "nightly" : "default";
  job->request.pair_seed = static_cast<int64_t>(random.Below(1'000'000));
  job->request.rounds_max = static_cast<int>(random.WholeIn({3, 8}));
  job->request.unplaceable_grace_s = 86'400;  // workers come and go
  if (random.Chance(0.5)) job->request.budget_s = random.WholeIn({60, 1'200});
  const int64_t rows = int64_t{2} * (job->request.rounds_max + plan::kSpareRounds);
  for (int64_t i = 0; i < std::max<int64_t>(1, experiments / rows); ++i) {
    plan::Experiment& e = job->plan.experiments.emplace_back();
    e.suite = "simulated";
    e.model = absl::StrCat("model_", random.Below(models));
    e.configuration = absl::StrCat("configuration_", i);
    e.test = random.Chance(0.7) ? plan::Test::kPerformance : plan::Test::kAccuracy;
    e.source.loader = "timm";
    e.source.name = e.model;
  }
  plan::MakePairs(job->request, &job->plan.experiments);
}

void Client::Start() {
  const int64_t jobs = world_->random.WholeIn(scenario_->jobs);
  for (int i = 0; i < jobs; ++i) {
    auto submission = std::make_shared<Submission>();
    submission->job = MakeJob(i);
    ++open_;
    const double delay_s = world_->random.In(scenario_->submit_s);
    world_->timeline.After(static_cast<int64_t>(delay_s * kNsPerSecond),
                           [this, submission] { Submit(submission); });
  }
}

template <typename Again>
void Client::Later(const std::shared_ptr<Submission>& submission, Again again) {
  world_->timeline.After(kAskAgainNs, [this, submission, again] {
    const bool owed =
        coordinator_->up() && submission->asked_incarnation == coordinator_->incarnation();
    if (owed) {
      Later(submission, again);
    } else {
      again();
    }
  });
}

void Client::Submit(const std::shared_ptr<Submission>& submission) {
  if (submission->answered) return;
  submission->asked_incarnation = 0;
  if (coordinator_->up()) {
    submission->asked_incarnation = coordinator_->incarnation();
    coordinator_->Submit(submission->job, [this, submission](const absl::StatusOr<JobId>& id) {
      if (!id.ok()) {
        submission->asked_incarnation = 0;  // full disk: again
        return;
      }
      submission->id = *id;
      Answered(submission);
    });
  }
  Later(submission, [this, submission] { Submit(submission); });
}

void Client::Answered(const std::shared_ptr<Submission>& submission) {
  if (std::exchange(submission->answered, true)) return;
  world_->Note("job is accepted", -1, 0, submission->id.value);
  if (world_->random.Chance(scenario_->follow)) {
    coordinator_->Watch(submission->id);
    coordinator_->FollowLog(ExperimentId(1 + world_->random.Below(oracle_->planned())));
  }
  if (!world_->random.Chance(scenario_->cancel)) {
    --open_;
    return;
  }
  const double delay_s = world_->random.In({0, 120});
  world_->timeline.After(static_cast<int64_t>(delay_s * kNsPerSecond),
                         [this, submission] { Cancel(submission); });
}

void Client::Cancel(const std::shared_ptr<Submission>& submission) {
  if (submission->cancelled) return;
  submission->asked_incarnation = 0;
  if (coordinator_->up()) {
    world_->Note("job is cancelled", -1, 0, submission->id.value);
    submission->asked_incarnation = coordinator_->incarnation();
    oracle_->CancelRequested(submission->id);
    coordinator_->Cancel(submission->id, [this, submission](const absl::Status& status) {
      if (!status.ok() && !absl::IsFailedPrecondition(status)) {
        submission->asked_incarnation = 0;
        return;
      }
      if (!std::exchange(submission->cancelled, true)) --open_;
    });
  }
  Later(submission, [this, submission] { Cancel(submission); });
}

}  // namespace dynbench::simulation

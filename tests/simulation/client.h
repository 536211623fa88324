// Who submits and cancels jobs in a simulation, as dynbenchctl does: with an idempotency key, and
// again until it is answered. Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/store/writes.h"
#include "tests/simulation/coordinator.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

class Client {
 public:
  Client(World* world, const Scenario* scenario, Coordinator* coordinator, Oracle* oracle);

  // Plans the jobs of the scenario; each is submitted in its time.
  void Start();
  // Everything was answered.
  bool done() const { return open_ == 0; }

 private:
  struct Submission {
    store::NewJob job;
    JobId id;
    bool answered = false;
    bool cancelled = false;
    int64_t asked_incarnation = 0;  // of the coordinator that owes an answer
  };

  store::NewJob MakeJob(int number);
  void MakePairs(int64_t models, int64_t experiments, store::NewJob* job);
  void Submit(const std::shared_ptr<Submission>& submission);
  void Answered(const std::shared_ptr<Submission>& submission);
  void Cancel(const std::shared_ptr<Submission>& submission);
  // Asks `again` in a while, when no answer can come any more.
  template <typename Again>
  void Later(const std::shared_ptr<Submission>& submission, Again again);

  World* const world_;
  const Scenario* const scenario_;
  Coordinator* const coordinator_;
  Oracle* const oracle_;
  int64_t open_ = 0;
};

}  // namespace dynbench::simulation

// One simulated life of a fleet: its jobs come, things break, things are mended, all ends.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/store/store.h"
#include "tests/simulation/client.h"
#include "tests/simulation/coordinator.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/worker.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

struct Report {
  int64_t experiments = 0;  // planned; each has exactly one result unless something was violated
  int64_t attempts = 0;     // that were begun
  int64_t superseded = 0;   // results that came too late to count
  double simulated_s = 0;
  uint64_t trace_hash = 0;
  std::string violation;  // empty: every promise was kept
  std::string trace;      // the last events, when one was broken
};

class Episode {
 public:
  // `scenario` outlives it.
  Episode(const Scenario* scenario, uint64_t seed);

  // To the end, or to the first broken promise.
  Report Run();

  // For the kill matrix.
  World* world() { return &world_; }
  Coordinator* coordinator() { return coordinator_.get(); }
  Worker* worker(int number) { return workers_[static_cast<size_t>(number)].get(); }

 private:
  bool Finished() const;
  void CheckEnd();

  const Scenario* const scenario_;
  World world_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Faults> faults_;
};

}  // namespace dynbench::simulation

// Makes things break at random moments, as a scenario says. Thread-compatible.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/coordinator.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/worker.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

class Faults {
 public:
  // All outlive it.
  Faults(World* world, const Scenario* scenario, Coordinator* coordinator,
         std::vector<std::unique_ptr<Worker>>* workers);

  void Start();
  // Nothing breaks from now on. What is down comes back in its time.
  void End() { ended_ = true; }

 private:
  void Schedule(const std::string& name, const Fault& fault);
  void Happen(const std::string& name, const Fault& fault);
  // Again and again, until it is done.
  void Release(int worker, std::optional<int> slot);
  void ToWorker(const std::string& name, const Fault& fault, Worker* worker);

  World* const world_;
  const Scenario* const scenario_;
  Coordinator* const coordinator_;
  std::vector<std::unique_ptr<Worker>>* const workers_;
  bool ended_ = false;
};

}  // namespace dynbench::simulation

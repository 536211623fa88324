// A scenario: the fleet, its work and what breaks how often. Data:
// tests/simulation/scenarios/*.yaml, whose first one (calm.yaml) explains every key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/simulation/random.h"

namespace dynbench::simulation {

// Happens at random moments, to a random worker or to the coordinator.
struct Fault {
  double per_hour = 0;  // of each worker, or of the coordinator
  Range seconds;        // how long it lasts
  double silent = 0;    // share of those that the other side is not told of (no reset, one way)
};

struct Scenario {
  std::string name;
  std::string about;
  Range workers{3, 6}, slots{1, 2};
  Range jobs{1, 3}, experiments{20, 80}, models{3, 12};  // experiments and models of a job
  Range submit_s{0, 60};                                 // when a job comes
  double balanced = 0.2;                                 // share of jobs
  double pairs = 0;                                      // share of jobs that are of pairs
  double nightly = 0.2;  // share of experiments that need an environment that half the workers have
  double cancel = 0;     // share of jobs that are cancelled while they run
  double follow = 0;     // share of jobs of which somebody follows a log and the counts
  Range duration_s{5, 40};
  double poison = 0;           // share of models that take the worker down
  double infrastructure = 0;   // share of attempts that come back for an infrastructure reason
  double device_failures = 0;  // share of attempts under which the slot's device fails
  double host_failures = 0;  // share of attempts that find the disk full or are refused a download
  Range delay_ms{0.2, 2};
  double slow_links = 0;  // share of workers whose messages take slow_delay_ms
  Range slow_delay_ms{200, 4'000};
  Range commit_ms{1, 8};
  double faults_for_s = 3'600;  // after it nothing breaks any more
  std::map<std::string, Fault> faults;
};

// The names that `faults` may have.
const std::vector<std::string>& FaultNames();

// InvalidArgument names the file, the key and what it may be.
absl::StatusOr<Scenario> LoadScenario(const std::string& path);
// All of a folder, by name.
absl::StatusOr<std::vector<Scenario>> LoadScenarios(const std::string& folder);

}  // namespace dynbench::simulation

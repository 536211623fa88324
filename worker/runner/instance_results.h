// One result of several copies of an experiment that ran at once (`instances`). Pure.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace dynbench::runner {

struct Instance {
  std::vector<int> cores;
  nlohmann::json result;          // null: it ended without one
  int wait_status = 0;            // of its process, as waitpid gives it
  std::string phase = "prepare";  // last begun
};

// `cores` in `count` runs of equal length, in order; the last cores are left over. Throws
// std::invalid_argument when there are fewer cores than instances.
std::vector<std::vector<int>> SplitCores(const std::vector<int>& cores, int count);

// The result message of the whole: that of the first instance that passed, with the samples of all
// that did (instance by instance), medians over the instances' medians, and in the compiler's
// report "instances" (each one's cores, status and figures) and "instances_sum" (calls a second
// over all, of `iterations` calls a sample). Of their windows it has all flags and the worst
// figures, and the notes of all, each with the instance's number. Failed when one failed: "3 of 4
// instances measured; instance 2 …".
nlohmann::json JoinResults(const std::vector<Instance>& instances, int iterations);

}  // namespace dynbench::runner

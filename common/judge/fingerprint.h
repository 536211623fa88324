// What a process was measured on, as named facts that can be set side by side.
//
// Pure; plain data.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/store/queries.h"

namespace dynbench::judge {

// Name for people -> value. A fact that is not known is absent: it cannot differ.
using Facts = std::map<std::string, std::string>;

// From an inventory (dynbench.inventory/1): "host", "CPU", "physical cores", "architecture",
// "kernel", "memory" (GiB), "GPU", "driver", "CUDA driver" and each of its settings by name
// (worker/host/host_settings.h). Anything that is no such JSON: none.
Facts HostFacts(std::string_view inventory_json);

// From a worker's description of an environment: "environment" (hash), "torch", "torch commit",
// "python" and each package by its name.
Facts BuildFacts(std::string_view environment_json);

// One execution that counts: its row, its host and its build.
struct Process {
  store::ResultRow row;
  Facts host;
  Facts build;
};

// Of base or new: the processes of one or several jobs.
struct Side {
  std::string name;  // "job 3", "jobs 3, 4"
  std::vector<Process> processes;
};

// How many cores a core set such as "0-3,8" has; 0 when it is none.
int CoresIn(std::string_view core_set);

}  // namespace dynbench::judge

#include "tests/simulation/scenario.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "yaml-cpp/yaml.h"

namespace dynbench::simulation {
namespace {

Range ReadRange(const YAML::Node& node) {
  if (node.IsScalar()) return {node.as<double>(), node.as<double>()};
  return {node[0].as<double>(), node[1].as<double>()};
}

Fault ReadFault(const YAML::Node& node) {
  Fault fault;
  for (const auto& item : node) {
    const auto key = item.first.as<std::string>();
    if (key == "per_hour") {
      fault.per_hour = item.second.as<double>();
    } else if (key == "seconds") {
      fault.seconds = ReadRange(item.second);
    } else if (key == "silent") {
      fault.silent = item.second.as<double>();
    } else {
      throw YAML::Exception(item.first.Mark(), absl::StrCat("unknown key ", key, " of a fault"));
    }
  }
  return fault;
}

void ReadFaults(const YAML::Node& node, Scenario* scenario) {
  for (const auto& item : node) {
    const auto name = item.first.as<std::string>();
    const auto& names = FaultNames();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw YAML::Exception(item.first.Mark(), absl::StrCat("unknown fault ", name, "; there are ",
                                                            absl::StrJoin(names, ", ")));
    }
    scenario->faults[name] = ReadFault(item.second);
  }
}

Scenario Read(const YAML::Node& root) {
  Scenario s;
  const std::map<std::string, Range*> ranges = {{"workers", &s.workers},
                                                {"slots", &s.slots},
                                                {"jobs", &s.jobs},
                                                {"experiments", &s.experiments},
                                                {"models", &s.models},
                                                {"submit_s", &s.submit_s},
                                                {"duration_s", &s.duration_s},
                                                {"delay_ms", &s.delay_ms},
                                                {"slow_delay_ms", &s.slow_delay_ms},
                                                {"commit_ms", &s.commit_ms}};
  const std::map<std::string, double*> numbers = {{"balanced", &s.balanced},
                                                  {"nightly", &s.nightly},
                                                  {"pairs", &s.pairs},
                                                  {"cancel", &s.cancel},
                                                  {"follow", &s.follow},
                                                  {"poison", &s.poison},
                                                  {"infrastructure", &s.infrastructure},
                                                  {"device_failures", &s.device_failures},
                                                  {"host_failures", &s.host_failures},
                                                  {"slow_links", &s.slow_links},
                                                  {"faults_for_s", &s.faults_for_s}};
  for (const auto& item : root) {
    const auto key = item.first.as<std::string>();
    if (key == "about") {
      s.about = item.second.as<std::string>();
    } else if (key == "faults") {
      ReadFaults(item.second, &s);
    } else if (const auto range = ranges.find(key); range != ranges.end()) {
      *range->second = ReadRange(item.second);
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      *number->second = item.second.as<double>();
    } else {
      throw YAML::Exception(item.first.Mark(), absl::StrCat("unknown key ", key));
    }
  }
  return s;
}

}  // namespace

const std::vector<std::string>& FaultNames() {
  static const auto* const names = new std::vector<std::string>{"cut",
                                                                "partition",
                                                                "kill_worker",
                                                                "stop_worker",
                                                                "pause_worker",
                                                                "drain_worker",
                                                                "quarantine_slot",
                                                                "worker_disk_full",
                                                                "kill_coordinator",
                                                                "restart_coordinator",
                                                                "pause_coordinator",
                                                                "coordinator_disk_full",
                                                                "calendar_jump"};
  return *names;
}

absl::StatusOr<Scenario> LoadScenario(const std::string& path) {
  try {
    Scenario scenario = Read(YAML::LoadFile(path));
    scenario.name = std::filesystem::path(path).stem().string();
    return scenario;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
}

absl::StatusOr<std::vector<Scenario>> LoadScenarios(const std::string& folder) {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") paths.insert(entry.path().string());
  }
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat("no scenario (*.yaml) in ", folder));
  }
  std::vector<Scenario> scenarios;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(Scenario scenario, LoadScenario(path));
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace dynbench::simulation

#include "worker/env_command.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "worker/environments/register.h"
#include "worker/host/environment.h"

namespace dynbench::worker {
namespace {

void Tell(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace

absl::Status AddEnvironment(const std::string& environments_dir, const std::string& name,
                            const std::string& python) {
  Environment environment;
  environment.name = name;
  return RegisterEnvironment(environments_dir, std::move(environment), python, Tell).status();
}

absl::Status ListEnvironments(const std::string& environments_dir, bool json) {
  std::vector<std::string> problems;
  const auto environments = LoadEnvironments(environments_dir, &problems);
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, environment] : environments) {
      nlohmann::json row = ToJson(environment);
      const absl::Status status = CheckUnchanged(environment);
      row["usable"] = status.ok();
      row["problem"] = std::string(status.message());
      list.push_back(std::move(row));
    }
    std::printf("%s\n", nlohmann::json{{"schema", "dynbench.environments/1"},
                                       {"environments", list},
                                       {"problems", problems}}
                            .dump()
                            .c_str());
    return absl::OkStatus();
  }
  std::printf("%-20s %-16s %-14s %-10s %-14s %s\n", "NAME", "TORCH", "HASH", "DEVICES", "SUITES",
              "PYTHON");
  for (const auto& [name, environment] : environments) {
    const EnvironmentFacts& f = environment.facts;
    std::printf("%-20s %-16s %-14s %-10s %-14s %s\n", name.c_str(), f.torch_version.c_str(),
                environment.hash.substr(0, 12).c_str(), absl::StrJoin(f.devices, ",").c_str(),
                absl::StrJoin(f.suites, ",").c_str(), f.python.c_str());
    const absl::Status status = CheckUnchanged(environment);
    if (!status.ok()) Tell(std::string(status.message()));
  }
  for (const std::string& problem : problems) Tell(problem);
  return absl::OkStatus();
}

}  // namespace dynbench::worker

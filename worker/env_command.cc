#include "worker/env_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "worker/host/environment.h"
#include "worker/host/environment_probe.h"
#include "worker/host/runner_build.h"

namespace dynbench::worker {
namespace {

void Tell(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

// As many compilations at a time as there are cores, and memory for: the heavy ones take 1.6 GB.
int Jobs() {
  const auto memory_gb =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 1'000'000'000;
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<int64_t>(std::min(cores, memory_gb / 2), 1, 64));
}

}  // namespace

absl::Status AddEnvironment(const std::string& environments_dir, const std::string& name,
                            const std::string& python) {
  RETURN_IF_ERROR(CheckEnvironmentName(name));
  ASSIGN_OR_RETURN(const RunnerSources sources, FindRunnerSources());
  Environment environment;
  environment.name = name;
  Tell(absl::StrCat("asking ", python, " what it is"));
  ASSIGN_OR_RETURN(environment.facts, ProbeEnvironment(python));
  const auto known = LoadEnvironment(environments_dir, name);
  ASSIGN_OR_RETURN(environment.files, HashTorchFiles(environment.facts.torch_dir,
                                                     known.ok() && known->facts.torch_dir ==
                                                                       environment.facts.torch_dir
                                                         ? known->files
                                                         : std::map<std::string, HashedFile>()));
  environment.hash = EnvironmentHash(environment.files);
  Tell(absl::StrCat("torch ", environment.facts.torch_version, ", python ",
                    environment.facts.python_version, ", devices ",
                    absl::StrJoin(environment.facts.devices, ", "), ", suites ",
                    absl::StrJoin(environment.facts.suites, ", "), ", can ",
                    absl::StrJoin(environment.facts.capabilities, ", "), ", hash ",
                    environment.hash.substr(0, 12)));
  RunnerBuildOptions options;
  // A record outlives the spelling of its folder: a link that led here may be gone when it is read.
  std::error_code error;
  options.environments_dir = std::filesystem::weakly_canonical(environments_dir, error).string();
  if (error) options.environments_dir = environments_dir;
  options.jobs = Jobs();
  options.progress = Tell;
  ASSIGN_OR_RETURN(environment.runner_dir, BuildRunner(environment, sources, options));
  RETURN_IF_ERROR(SaveEnvironment(environments_dir, environment));
  Tell(absl::StrCat("environment ", name, " is ready (", environments_dir, "/", name, ".json)"));
  return absl::OkStatus();
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

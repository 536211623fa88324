#include "worker/environments/register.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "worker/host/environment_probe.h"
#include "worker/host/runner_build.h"

namespace dynbench::worker {
namespace {

// As many compilations at a time as there are cores, and memory for: the heavy ones take 1.6 GB.
int Jobs() {
  const auto memory_gb =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 1'000'000'000;
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<int64_t>(std::min(cores, memory_gb / 2), 1, 64));
}

}  // namespace

absl::StatusOr<Environment> RegisterEnvironment(const std::string& environments_dir,
                                                Environment environment, const std::string& python,
                                                const Progress& progress) {
  RETURN_IF_ERROR(CheckEnvironmentName(environment.name));
  ASSIGN_OR_RETURN(const RunnerSources sources, FindRunnerSources());
  progress(absl::StrCat("asking ", python, " what it is"));
  ASSIGN_OR_RETURN(environment.facts, ProbeEnvironment(python));
  const auto known = LoadEnvironment(environments_dir, environment.name);
  ASSIGN_OR_RETURN(environment.files, HashTorchFiles(environment.facts.torch_dir,
                                                     known.ok() && known->facts.torch_dir ==
                                                                       environment.facts.torch_dir
                                                         ? known->files
                                                         : std::map<std::string, HashedFile>()));
  environment.hash = EnvironmentHash(environment.files, environment.changed_files);
  progress(absl::StrCat("torch ", environment.facts.torch_version, ", python ",
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
  options.progress = progress;
  ASSIGN_OR_RETURN(environment.runner_dir, BuildRunner(environment, sources, options));
  RETURN_IF_ERROR(SaveEnvironment(environments_dir, environment));
  progress(absl::StrCat("environment ", environment.name, " is ready (", environments_dir, "/",
                        environment.name, ".json)"));
  return environment;
}

}  // namespace dynbench::worker

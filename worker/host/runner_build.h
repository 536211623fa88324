// Compiles dynbench-runner on this host against one environment's torch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

// What the runner is made of: `root` holds worker/runner/sources.txt, which lists the files to
// compile. The headers beside them and the shims belong to it too.
struct RunnerSources {
  std::string root;
  std::vector<std::string> files;  // relative to root, sorted
};

// From $DYNBENCH_RUNNER_SOURCES, share/dynbench/runner beside this program's bin folder, or the
// source tree that it was built from. NotFound lists what was tried.
absl::StatusOr<RunnerSources> FindRunnerSources();
absl::StatusOr<RunnerSources> LoadRunnerSources(const std::string& root);

struct RunnerBuildOptions {
  std::string environments_dir;  // runners are below it
  std::string compiler;          // empty: $CXX, else c++, g++ or clang++ from PATH
  int jobs = 2;                  // compilations side by side (1.6 GB each at worst)
  std::function<void(const std::string&)> progress;
};

// Builds (or finds) E/runners/KEY with dynbench-runner, shims/ and compile.log, and returns
// E/runners/KEY-PLACE, where the same binary finds this environment's torch. KEY hashes the torch
// libraries, the sources and the compiler, so nothing is built twice, also for a copied or derived
// environment; two processes that want the same one wait for each other (a lock file), and a folder
// appears whole or not at all. Errors end with the compiler's last lines and name the log that was
// kept.
absl::StatusOr<std::string> BuildRunner(const Environment& environment,
                                        const RunnerSources& sources,
                                        const RunnerBuildOptions& options);

}  // namespace dynbench::worker

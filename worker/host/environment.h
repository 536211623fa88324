// Environments: Python environments with one PyTorch build each, registered on this host as
// E/NAME.json and identified by the content of their torch libraries.
//
// Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::worker {

// A file that the identity stands on. Size and time tell cheaply that it is still the same one.
struct HashedFile {
  int64_t size_bytes = 0;
  int64_t modified_ns = 0;
  std::string sha256;

  bool operator==(const HashedFile&) const = default;
};

// What the environment's own python says of itself (environment_probe.h).
struct EnvironmentFacts {
  std::string python;          // absolute; not resolved, since a venv's link decides its prefix
  std::string python_version;  // "3.11.2"
  std::string python_include_dir;
  std::string python_library_dir;
  std::string python_library;  // "python3.11": what -l is given
  std::string torch_version;
  std::string torch_git;
  std::string torch_dir;
  bool torch_cxx11_abi = true;
  std::map<std::string, std::string> packages;
  std::vector<std::string> devices;  // torch device types that work
  std::vector<std::string> suites;   // loaders whose imports succeed
  // What an experiment may need beyond torch itself, where it is there: "aot_inductor",
  // "aot_precompile", "nativert", "torchao", "triton", "distributed_gloo", "distributed_nccl",
  // "torchbenchmark". An experiment that needs a missing one is skipped with that reason.
  std::vector<std::string> capabilities;
};

// One registry record. Plain data.
struct Environment {
  std::string name;
  EnvironmentFacts facts;
  std::map<std::string, HashedFile> files;  // path below torch_dir -> identity
  std::string hash;                         // what identifies it; 64 hexadecimal digits
  std::string runner_dir;                   // holds dynbench-runner and shims/
  // Of one that dynbench made: the id of its recipe or derivation (empty: `env add`), what that
  // was, its folder, and whether the coordinator knows of it.
  std::string id;
  std::string origin_json;
  std::string prefix;
  bool of_fleet = false;
  // Of a derived one: the files that differ from the base, by path below `prefix`. They decide
  // `hash` too, since the compiler is Python.
  std::map<std::string, HashedFile> changed_files;

  std::string RunnerPath() const { return runner_dir + "/dynbench-runner"; }
  std::string ShimsDir() const { return runner_dir + "/shims"; }
};

nlohmann::json ToJson(const Environment& environment);
absl::StatusOr<Environment> EnvironmentFromJson(std::string_view text);

// The rule of recipes (common/plan/recipe.h).
absl::Status CheckEnvironmentName(const std::string& name);

// Hashes the libraries that decide what a build of torch is. A file whose size and time are those
// in `known` is not read again. NotFound when this is no torch.
absl::StatusOr<std::map<std::string, HashedFile>> HashTorchFiles(
    const std::string& torch_dir, const std::map<std::string, HashedFile>& known);
// What a runner that was compiled against these libraries is keyed by.
std::string EnvironmentHash(const std::map<std::string, HashedFile>& files);
// The environment's own: that of the libraries alone, unless files of Python differ from the base.
std::string EnvironmentHash(const std::map<std::string, HashedFile>& files,
                            const std::map<std::string, HashedFile>& changed_files);
// Size, time and digest of files below `folder`.
absl::StatusOr<std::map<std::string, HashedFile>> HashFiles(const std::string& folder,
                                                            const std::vector<std::string>& paths);

// FailedPrecondition when a hashed file or the runner is gone or no longer the same one.
absl::Status CheckUnchanged(const Environment& environment);
// The files alone: a look at each one's size and time.
absl::Status CheckFilesUnchanged(const Environment& environment);

// The records of a folder, by name; unreadable ones are left out and told in `problems`.
std::map<std::string, Environment> LoadEnvironments(const std::string& environments_dir,
                                                    std::vector<std::string>* problems);

absl::StatusOr<Environment> LoadEnvironment(const std::string& environments_dir,
                                            const std::string& name);
absl::Status SaveEnvironment(const std::string& environments_dir, const Environment& environment);
// NotFound names those that exist. The runner stays: another record may use it.
absl::Status RemoveEnvironment(const std::string& environments_dir, const std::string& name);

}  // namespace dynbench::worker

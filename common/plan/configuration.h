// Named configurations (suites/configurations/*.yaml) and launch profiles (suites/profiles/*.yaml).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"

namespace dynbench::plan {

struct Configuration {
  std::string name;
  std::string description;
  CompileOptions options;
  std::string upstream_name;  // in upstream's CSV file names and on its dashboard; may be empty
  // What is measured with it; empty: everything. Other rows of a plan are skipped with this reason.
  std::vector<Mode> modes;
  std::vector<Test> tests;
  // What it measures beyond the compiler's options. A flag of the submission wins.
  std::vector<Start> starts;  // empty: cold
  int repeat = 0;             // 0: the submission's
  bool deterministic = false;
  bool batch_invariant = false;
  std::string generation;  // "" (the suite's) | "generate" | "prefill" | "forward"
};

// What a process is started with; part of the series. Variables are set before the zygote imports
// torch; a profile is therefore another zygote.
struct LaunchProfile {
  std::string name;
  std::string description;
  std::map<std::string, std::string> environment;  // variables
  std::vector<std::string> preload;                // library names for LD_PRELOAD
  // "" (the system's) | "local": memory comes from the NUMA nodes of the slot's cores, or not at
  // all (MPOL_BIND).
  std::string numa;
  int instances = 1;  // copies at once on disjoint cores, unless the submission says
};

// The name of an option that is set although what compiles ignores it (inductor's switches with
// another backend, anything with "nothing", torch.compile's own on a path ahead of time), or empty.
std::string OptionWithoutEffect(const CompileOptions& options);

// Why the options contradict each other ("unbacked_batch_only and dynamic_batch_only exclude …"),
// or empty.
std::string Contradiction(const CompileOptions& options);

// What options imply: marking the batch dimension alone is a way of compiling dynamically.
void Imply(CompileOptions* options);

class MapReader;

// Reads the mapping of options that configurations and presets share.
void ReadOptions(MapReader& reader, CompileOptions* options);

// Errors as in suite.h: file:line:column, object, rule, fix.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text, std::string_view file_name);
absl::StatusOr<LaunchProfile> ParseProfile(std::string_view text, std::string_view file_name);

}  // namespace dynbench::plan

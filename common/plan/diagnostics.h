// Kinds of a diagnostic rerun (Experiment::diagnostics; `retry --debug`).
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace dynbench::plan {

// Every kind, in the order of the documentation: "trace", "logs", "compile_debug", "profiler",
// "memory_snapshot", "operator_inputs", "cache".
const std::vector<std::string>& DiagnosticsKinds();

// What `--debug` alone stands for: all of them but "cache".
std::vector<std::string> DefaultDiagnostics();

// InvalidArgument names the first unknown kind and those that there are.
absl::Status CheckDiagnostics(const std::vector<std::string>& kinds);

// Whether something is recorded while the model runs; "cache" alone only keeps a folder.
bool Instruments(const std::vector<std::string>& kinds);

}  // namespace dynbench::plan

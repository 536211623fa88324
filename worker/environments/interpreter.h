// The base interpreters of a host: what virtual environments stand on.
//
// Thread-safe: no state. Runs the interpreter (milliseconds).
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace dynbench::worker {

struct Interpreter {
  std::string path;     // the program itself, no virtual environment's
  std::string version;  // "3.11.7"
};

// `wanted`: an absolute path, or a version ("3.11", or "3.11.7"), which is looked for as pythonX.Y
// and python3 along PATH. A virtual environment's python stands for the one below it. NotFound says
// what there is instead.
absl::StatusOr<Interpreter> FindInterpreter(const std::string& wanted);

// The interpreter of exactly this version: the one at `path` where it is, else one along PATH.
// FailedPrecondition: there is none here.
absl::StatusOr<Interpreter> FindSameInterpreter(const std::string& path,
                                                const std::string& version);

// Where a virtual environment is, and where its packages are, as its python says.
struct VenvPlace {
  std::string prefix, site_packages, interpreter, version;
};
// FailedPrecondition: the python is of no virtual environment.
absl::StatusOr<VenvPlace> AskVenv(const std::string& python);

}  // namespace dynbench::worker

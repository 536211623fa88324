#include "worker/environments/interpreter.h"

#include <unistd.h>

#include <cstdlib>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kAskLimitMs = 60'000;
constexpr char kMarker[] = "DYNBENCH-VENV ";
// The base interpreter is sys._base_executable, but a path that no longer is (a removed link).
constexpr char kScript[] = R"PY(
import os, platform, sys, sysconfig
base = getattr(sys, "_base_executable", None) or sys.executable
print("DYNBENCH-VENV " + "\t".join([sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"],
                                    os.path.realpath(base), platform.python_version()]))
)PY";

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

struct Answer {
  std::string prefix, base_prefix, site_packages, interpreter, version;
};

absl::StatusOr<Answer> Ask(const std::string& python) {
  if (access(python.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(python, " is no program"));
  }
  SpawnOptions options;
  options.argv = {python, "-c", kScript};
  options.working_dir = "/";
  options.environment = {{"PATH", Getenv("PATH")}, {"HOME", Getenv("HOME")}, {"LANG", "C.UTF-8"}};
  if (!Getenv("LD_LIBRARY_PATH").empty()) {
    options.environment["LD_LIBRARY_PATH"] = Getenv("LD_LIBRARY_PATH");
  }
  options.die_with_caller = false;
  ASSIGN_OR_RETURN(const CommandResult result, RunCommand(options, kAskLimitMs));
  for (const auto line : absl::StrSplit(result.output, '\n')) {
    if (!absl::StartsWith(line, kMarker)) continue;
    const std::vector<std::string> words = absl::StrSplit(line.substr(sizeof kMarker - 1), '\t');
    if (words.size() == 5) return Answer{words[0], words[1], words[2], words[3], words[4]};
  }
  return absl::FailedPreconditionError(
      absl::StrCat(python, " does not answer as a python does: ", result.output.substr(0, 1'000)));
}

// Whether `version` is `wanted` or one of its patch releases.
bool IsVersion(const std::string& version, const std::string& wanted) {
  return version == wanted || absl::StartsWith(version, wanted + ".");
}

std::vector<std::string> Candidates(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  std::vector<std::string> paths;
  for (const std::string& name :
       {absl::StrCat("python", parts[0], ".", parts.size() > 1 ? parts[1] : ""),
        std::string("python3")}) {
    for (const auto folder : absl::StrSplit(Getenv("PATH"), ':')) {
      const std::string path = absl::StrCat(folder, "/", name);
      if (!folder.empty() && access(path.c_str(), X_OK) == 0) paths.push_back(path);
    }
  }
  return paths;
}

absl::StatusOr<Interpreter> Along(const std::string& version) {
  std::set<std::string> others;
  for (const std::string& path : Candidates(version)) {
    const auto answer = Ask(path);
    if (!answer.ok()) continue;
    if (IsVersion(answer->version, version)) {
      return Interpreter{answer->interpreter, answer->version};
    }
    others.insert(absl::StrCat(answer->version, " (", path, ")"));
  }
  return absl::NotFoundError(absl::StrCat(
      "this host has no python ", version, "; ",
      others.empty() ? "none was found along PATH" : "it has " + absl::StrJoin(others, ", ")));
}

}  // namespace

absl::StatusOr<Interpreter> FindInterpreter(const std::string& wanted) {
  if (wanted.empty() || wanted[0] != '/') return Along(wanted);
  ASSIGN_OR_RETURN(const Answer answer, Ask(wanted));
  return Interpreter{answer.interpreter, answer.version};
}

absl::StatusOr<Interpreter> FindSameInterpreter(const std::string& path,
                                                const std::string& version) {
  const auto there = Ask(path);
  if (there.ok() && there->version == version) {
    return Interpreter{there->interpreter, there->version};
  }
  auto along = Along(version);
  if (along.ok()) return along;
  return absl::FailedPreconditionError(
      absl::StrCat("it needs python ", version, ": ",
                   there.ok() ? absl::StrCat(path, " is ", there->version)
                              : std::string(there.status().message()),
                   ", and ", std::string(along.status().message())));
}

absl::StatusOr<VenvPlace> AskVenv(const std::string& python) {
  ASSIGN_OR_RETURN(const Answer answer, Ask(python));
  if (answer.prefix == answer.base_prefix ||
      access((answer.prefix + "/pyvenv.cfg").c_str(), R_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(python,
                     " is of no virtual environment, which alone can be copied; make one "
                     "(python3 -m venv) and add that"));
  }
  return VenvPlace{answer.prefix, answer.site_packages, answer.interpreter, answer.version};
}

}  // namespace dynbench::worker

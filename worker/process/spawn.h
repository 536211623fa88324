// Starting a program so that it inherits nothing unasked: only the named descriptors, only the
// given environment, a session of its own, no core files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::worker {

struct SpawnOptions {
  std::vector<std::string> argv;  // argv[0] is a path; no search along PATH
  std::map<std::string, std::string> environment;
  std::string working_dir;             // empty: the caller's
  std::map<int, int> fds;              // the child's number -> ours; 0 is /dev/null unless given
  std::vector<int> cores;              // affinity; empty: inherited
  uint64_t open_files_limit = 65'536;  // lowered to the hard limit
  // Private memory that can be written, of each process (not addresses: an accelerator's driver
  // reserves far more of them). 0: not limited.
  int64_t memory_limit_bytes = 0;
  // Processes of this user on the whole host, a guard against fork bombs; lowered to the hard
  // limit. 0: not limited.
  uint64_t processes_limit = 0;
  // SIGKILL when the *thread* that called Spawn ends, so call it from one that lives as long as the
  // process.
  bool die_with_caller = true;
};

// The pid of the child, which leads its own session. Errors name the program and what failed in it
// (no such file, no permission, bad folder): they are found out before this returns.
absl::StatusOr<pid_t> Spawn(const SpawnOptions& options);

// How a process ended. `code` is -1 when it was ended by `signal`.
struct ExitStatus {
  int code = 0;
  int signal = 0;
  bool success() const { return code == 0; }
};
ExitStatus DecodeWaitStatus(int wait_status);

// Runs a program to its end and returns what it wrote to stdout and stderr together (at most
// `cap_bytes`, the rest is read and dropped). DeadlineExceeded when it was killed after `limit_ms`.
struct CommandResult {
  ExitStatus exit;
  std::string output;
  pid_t pid = 0;  // it is gone
};
// `spawn` starts the program (a caller may have to know its children at once).
using Spawner = std::function<absl::StatusOr<pid_t>(const SpawnOptions&)>;
absl::StatusOr<CommandResult> RunCommand(SpawnOptions options, int64_t limit_ms,
                                         size_t cap_bytes = 4 << 20, const Spawner& spawn = &Spawn);

}  // namespace dynbench::worker

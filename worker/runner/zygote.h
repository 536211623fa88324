// The zygote: imports once, then only forks lanes (PROTOCOL.md, "Zygote").
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "worker/process/line_channel.h"
#include "worker/process/unique_fd.h"

namespace dynbench::runner {

struct ZygoteOptions {
  std::string python;  // the environment's interpreter
  std::string shims;   // folder of the Python part
  int fd = 3;          // the worker's socket
};

class Zygote {
 public:
  explicit Zygote(const ZygoteOptions& options);

  // Serves until its socket closes; returns the exit status: 0, 3 when the environment cannot be
  // imported, 4 when the process is not fit to fork. In a lane it returns when the lane ends.
  int Run();

 private:
  int Serve();
  // These return the exit status when it is over.
  std::optional<int> ImportAll();
  std::optional<int> HandleLine(const std::string& line);
  std::optional<int> StartLane(int lane, worker::UniqueFd socket);
  void ReapLanes();
  void Send(const nlohmann::json& message);

  ZygoteOptions options_;
  worker::LineChannel channel_;
  worker::UniqueFd child_signals_;
  std::vector<worker::UniqueFd> fds_;
  std::set<pid_t> lanes_;
};

// Why this process may not fork (fork_safety.h), read now. Empty when it may.
std::string WhyNotFork();

// SIGCHLD blocked and readable as a descriptor (close-on-exec, non-blocking).
worker::UniqueFd BlockChildSignals();
void DrainChildSignals(int fd);

}  // namespace dynbench::runner

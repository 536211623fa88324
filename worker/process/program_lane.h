// A lane for programs: what the runner's lane is for experiments of its own (worker/runner/
// PROTOCOL.md, "Lane"), without Python and without torch. It owns one program at a time and the
// whole tree below it, and kills all of it when its socket closes, so that the death of a worker,
// even by SIGKILL, leaves nothing running.
//
// The messages are the lane's: `run` (with "argv", "environment", "work_dir", "cores",
// "memory_limit_bytes", "processes_limit" and "dump_stacks" in the place of an experiment), `kill`;
// `spawned`, `exited`, `refused`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "worker/process/line_channel.h"
#include "worker/process/process_tree.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// argv[1] of the worker's own program when it is to be such a lane; argv[2] is the socket's number.
inline constexpr char kProgramLaneWord[] = "program-lane";

// When the arguments of main() ask for a lane: serves and returns its exit status.
std::optional<int> RunAsProgramLane(int argc, char** argv);

// Single-threaded; makes its process a subreaper and blocks SIGCHLD.
class ProgramLane {
 public:
  explicit ProgramLane(LineChannel channel);

  // Serves until its socket closes; returns the exit status of the process.
  int Run();

 private:
  struct Running {
    std::string attempt;
    pid_t pid = 0;
    bool dump_stacks = false;
    bool reaped = false;
    int wait_status = 0;
    int64_t max_rss_bytes = 0;
    int descendants_killed = 0;
    std::vector<ProcessStat> left = {};  // after KILL
  };

  void Handle(const std::string& line);
  void HandleRun(const nlohmann::json& message);
  void HandleKill(const nlohmann::json& message);
  void KillAll(int64_t grace_ms);
  void Reap();
  void FinishIfReaped();
  void Refuse(const std::string& attempt, const std::string& reason);
  void Send(const nlohmann::json& message);

  LineChannel channel_;
  UniqueFd child_signals_;
  std::vector<UniqueFd> fds_;  // came beside lines that are not handled yet
  std::optional<Running> running_;
};

}  // namespace dynbench::worker

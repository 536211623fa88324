// A lane: owns one attempt at a time, its process tree, and nothing else (PROTOCOL.md, "Lane").
//
// Subreaper, so that a descendant that was forked twice or has a session of its own is still found
// and reaped. No tensors, no Python of its own, never frozen. When its socket closes it kills
// everything and exits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"
#include "worker/process/line_channel.h"
#include "worker/process/process_tree.h"
#include "worker/process/unique_fd.h"
#include "worker/runner/path_aliases.h"

namespace dynbench::runner {

class Lane {
 public:
  explicit Lane(worker::LineChannel channel);

  // Serves until its socket closes; returns the exit status of the process.
  int Run();

 private:
  struct Running {
    std::string attempt;
    pid_t pid = 0;
    bool reaped = false;
    int wait_status = 0;
    int64_t max_rss_bytes = 0;
    int descendants_killed = 0;
    std::vector<worker::ProcessStat> left = {};  // after KILL
  };

  void HandleLine(const std::string& line);
  void HandleRun(const nlohmann::json& message);
  void HandleKill(const nlohmann::json& message);
  void Spawn(const nlohmann::json& message, std::vector<worker::UniqueFd> fds);
  void Reap();
  // Kills what is left of the tree; with `grace_ms` > 0, TERM first.
  void KillAll(int64_t grace_ms);
  void FinishIfReaped();
  void Refuse(const std::string& attempt, const std::string& reason);
  void Send(const nlohmann::json& message);

  worker::LineChannel channel_;
  worker::UniqueFd child_signals_;
  std::vector<worker::UniqueFd> fds_;  // came beside lines that are not handled yet
  std::optional<Running> running_;
  PathAliases aliases_;  // of the running attempt
};

}  // namespace dynbench::runner

// A small process beside the worker that outlives it for a moment: when the worker is gone without
// a word, it ends what the worker's processes left (owned_mark.h). Lanes do that for their own
// trees; the watchdog is for lanes that were killed together with the worker. Should it be killed
// as well, the worker's next start does its work.
//
// It is the worker's program again, in a session of its own, without the mark. Thread-compatible.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/process/spawn.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// argv[1] of the worker's program when it is a watchdog; argv[2] is its socket, argv[3] the mark.
inline constexpr char kWatchdogWord[] = "--watch-over";

// What main returns when this process is a watchdog; nothing when it is not.
std::optional<int> RunAsWatchdog(int argc, char** argv);

class Watchdog {
 public:
  // `program`: the worker's. `spawn`: so that its owner is known at once (owned_processes.h).
  static absl::StatusOr<Watchdog> Start(const std::string& program, const std::string& mark,
                                        const Spawner& spawn = &Spawn);
  Watchdog(Watchdog&&) = default;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog();  // tells it that there is nothing to do, and waits for its end

  pid_t pid() const { return pid_; }

 private:
  Watchdog(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  UniqueFd socket_;
  pid_t pid_;
};

}  // namespace dynbench::worker

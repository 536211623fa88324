// Which attempts run, on disk (D/running.json), so that a process that was killed leaves word of
// what died with it. Thread-compatible. Experiments may be shorter than a write, so that happens on
// another thread where there is one, and only of the newest state. The death of the process leaves
// every state that was written, that of the host one that is older by at most 0.1 s.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "common/base/ids.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

class Journal {
 public:
  // Writes on `disk`'s thread; without it, at once.
  explicit Journal(std::string path, EventLoop* disk = nullptr);

  // What an earlier process left: attempts that ran when it died, and those that died before and
  // have not been reported yet. They stay until Reported. A damaged file counts as none.
  void Load();

  const std::set<AttemptId>& died() const { return died_; }
  // The coordinator has heard of `died`.
  void Reported();

  // Replaces the running attempts; writes only when they changed.
  void SetRunning(const std::set<AttemptId>& running);

 private:
  struct File;
  void Write();

  const std::shared_ptr<File> file_;
  EventLoop* const disk_;
  std::set<AttemptId> running_;
  std::set<AttemptId> died_;
};

}  // namespace dynbench::worker

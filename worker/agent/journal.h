// Which attempts run, on disk (D/running.json), so that a process that was killed leaves word of
// what died with it. Thread-compatible.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "common/base/ids.h"

namespace dynbench::worker {

class Journal {
 public:
  explicit Journal(std::string path) : path_(std::move(path)) {}

  // What an earlier process left: attempts that ran when it died, and those that died before and
  // have not been reported yet. They stay until Reported. A damaged file counts as none.
  void Load();

  const std::set<AttemptId>& died() const { return died_; }
  // The coordinator has heard of `died`.
  void Reported();

  // Replaces the running attempts; writes only when they changed.
  void SetRunning(const std::set<AttemptId>& running);

 private:
  void Write();

  std::string path_;
  std::set<AttemptId> running_;
  std::set<AttemptId> died_;
};

}  // namespace dynbench::worker

// D/work/EXPERIMENT.LEASE: the folders of attempts. Mode 0700, made for one attempt, gone after
// success, kept after a failure up to a count. Thread-compatible: one thread makes, one removes.
#pragma once

#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/ids.h"

namespace dynbench::worker {

struct WorkFolder {
  std::string root;       // the attempt's folder
  std::string run_dir;    // current folder of its child
  std::string cache_dir;  // made by whoever fills it
};

class WorkFolders {
 public:
  // `keep`: how many folders of failed attempts stay.
  WorkFolders(std::string folder, int keep) : folder_(std::move(folder)), keep_(keep) {}

  // An empty folder; what an earlier try of the same attempt left is removed first.
  absl::StatusOr<WorkFolder> Make(const AttemptId& attempt);
  void Remove(const WorkFolder& work);
  // Removes what its child wrote; before Keep.
  void Empty(const WorkFolder& work);
  // Leaves log (unless it is empty), experiment and note for people, drops the caches, and removes
  // the oldest kept folders beyond the count.
  void Keep(const WorkFolder& work, const std::string& experiment_json, const std::string& log,
            const std::string& note);
  // At start: folders that a killed process left are kept as failures are. Returns how many.
  int SweepLeftovers();

 private:
  static absl::StatusOr<WorkFolder> MakeWhole(const WorkFolder& work);
  void ListKept();
  void RemoveOldest();

  std::string folder_;
  int keep_;
  bool listed_ = false;
  std::deque<std::string> kept_;  // the oldest first
};

}  // namespace dynbench::worker

// D/artifacts/EXPERIMENT.LEASE: files of attempts that people asked for (traces, a minifier's
// repro, a failed experiment's compile cache). They outlive the attempt's work folder; the oldest
// go when all together are larger than the cap. Thread-compatible: the janitor's thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "worker/agent/work_folders.h"

namespace dynbench::worker {

// What was kept of one attempt.
struct KeptArtifacts {
  std::vector<std::string> files;  // absolute paths, sorted
  std::vector<std::string> notes;  // what was left out, and why
};

class Artifacts {
 public:
  // `attempt_cap_bytes`: of one attempt; `cap_bytes`: of all that is kept.
  Artifacts(std::string folder, int64_t attempt_cap_bytes, int64_t cap_bytes)
      : folder_(std::move(folder)), attempt_cap_bytes_(attempt_cap_bytes), cap_bytes_(cap_bytes) {}

  // Where a child puts what it wants kept, within its current folder.
  static std::string FolderOfChild(const WorkFolder& work) { return work.run_dir + "/artifacts"; }

  // Moves an attempt's artifacts, and with `with_cache` its compile cache, out of its work folder.
  // Small files first: what goes beyond the attempt's cap is left out and noted. Only regular files
  // are kept: a link could lead anywhere.
  KeptArtifacts Take(const AttemptId& attempt, const WorkFolder& work, bool with_cache);

 private:
  void RemoveOldest(const std::string& spared);

  std::string folder_;
  int64_t attempt_cap_bytes_;
  int64_t cap_bytes_;
};

}  // namespace dynbench::worker

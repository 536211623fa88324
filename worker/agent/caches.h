// How an attempt's compiler caches start (design: cold, warm, shared), and the host's store of
// prepared ones, D/caches/KEY.
//
// Nothing in the store is ever given away: a warm attempt gets a plain copy (no hard links: a child
// may write into the files it finds), so a running attempt never sees another one's writes and a
// removal never hits one.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/mutex.h"
#include "common/plan/configuration.h"
#include "common/plan/experiment.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

class Caches {
 public:
  // `cap_bytes`: the size of the store beyond which the caches used longest ago are removed.
  Caches(std::string store_dir, std::string shared_dir, int64_t cap_bytes);

  // What a prepared cache is for: the series whatever its start, and all that decides whether what
  // the compiler looks up is found: the build of torch, the C++ compiler and the runner (whose
  // folder is named after them, runner_build.h), what the launch profile holds, whatever its name,
  // and the number of cores (compiled code has it in it).
  static std::string Key(const plan::Experiment& experiment, const Environment& environment,
                         const plan::LaunchProfile& profile, int cores);

  // A new empty folder, mode 0700. AlreadyExists when there is something.
  static absl::Status MakeCold(const std::string& dir);

  bool Has(const std::string& key) const;
  // Copies the prepared cache to `dir`, which must not exist.
  absl::Status CopyTo(const std::string& key, const std::string& dir) EXCLUDES(mu_);
  // Takes a filled folder into the store (it is moved; it must be on the same file system). One
  // that is there already stays. Then trims the store.
  void Adopt(const std::string& dir, const std::string& key) EXCLUDES(mu_);
  // Removes a prepared cache that an attempt missed, so that the next one prepares it anew. No
  // running attempt notices: each has its copy.
  void Discard(const std::string& key) EXCLUDES(mu_);

  // The folder that the experiments of one job on one slot share.
  absl::StatusOr<std::string> Shared(JobId job, int slot) EXCLUDES(mu_);
  // Removes the shared folders of all jobs but these, which run on the slot; called when a slot
  // begins another job's lease.
  void DropShared(int slot, const std::set<JobId>& except) EXCLUDES(mu_);

  void Trim() EXCLUDES(mu_);

 private:
  const std::string store_dir_;
  const std::string shared_dir_;
  const int64_t cap_bytes_;
  Mutex mu_;  // one change of the store at a time
};

}  // namespace dynbench::worker

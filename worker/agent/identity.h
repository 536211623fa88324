// Who this worker is: an id that lasts as long as its state folder, and the lock that keeps a
// second process off that folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// Holds the lock for its own lifetime; the kernel frees it when the process dies.
class Identity {
 public:
  // Creates the folder and the id when they are missing. AlreadyExists: another process has the
  // folder (its pid is named). FailedPrecondition: the folder is on a network file system, whose
  // locks and fsync cannot be relied on.
  static absl::StatusOr<Identity> Open(const std::string& state_dir);

  const WorkerId& id() const { return id_; }

 private:
  WorkerId id_;
  UniqueFd lock_;
};

// The name of the network file system that `path` is on; empty when it is a local one.
std::string NetworkFileSystem(const std::string& path);

}  // namespace dynbench::worker

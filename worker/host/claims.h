// Host-wide claims on cores and devices, so that two workers of one host never measure on the same
// ones. A claim is a bound abstract Unix socket, "\0dynbench/SCOPE/core/3": the kernel frees it
// when its process dies, however it dies.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/host/inventory.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// The claims of one process. Thread-compatible.
class Claims {
 public:
  // `scope` separates fleets that shall not see each other ($DYNBENCH_CLAIMS_SCOPE, else "host").
  explicit Claims(std::string scope) : scope_(std::move(scope)) {}
  static std::string ScopeFromEnvironment();

  // Claims "core/3" or "gpu/GPU-uuid". AlreadyExists names the process that holds it. Claiming what
  // this object holds is no error.
  absl::Status Claim(const std::string& what);
  void Release(const std::string& what) { held_.erase(what); }

  // The pid of the process that holds it; nothing when nobody does, or when it is another user's.
  std::optional<pid_t> Holder(const std::string& what) const;

 private:
  std::string scope_;
  std::map<std::string, UniqueFd> held_;
};

// One of N equal shares of a host.
struct Share {
  int index = 1;  // 1 … count
  int count = 1;
};

// "2/3". InvalidArgument says what is wrong with the text.
absl::StatusOr<Share> ParseShare(const std::string& text);

// The CPUs of one share. Physical cores are kept whole (siblings together) as long as there is one
// for each share; shares are disjoint, contiguous and cover everything. Empty when there are fewer
// CPUs than shares and this one gets none. Pure.
std::vector<int> CpusOfShare(const std::vector<Core>& cores, const Share& share);

// Likewise for devices.
std::vector<Gpu> GpusOfShare(const std::vector<Gpu>& gpus, const Share& share);

}  // namespace dynbench::worker

// Following a job until it has finished, over restarts of the coordinator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

struct FollowOptions {
  JobId job;
  bool rows = true;      // also hear of rows
  double timeout_s = 0;  // 0: no limit
  std::string tls;       // as Client::Connect
};

struct FollowEnd {
  JobView job;  // as last heard
  bool timed_out = false;
};

// How long a coordinator may be away (a restart takes seconds) before following gives up.
inline constexpr int64_t kReconnectMs = 30'000;

// Calls `on_event` with the job's state and the rows that changed. Unavailable when the coordinator
// is not reachable at the start, or stays away for longer than kReconnectMs; NotFound for an
// unknown job.
absl::StatusOr<FollowEnd> Follow(
    const std::string& coordinator, const FollowOptions& options,
    const std::function<void(const JobView&, const std::vector<RowView>&)>& on_event);

}  // namespace dynbench::cli

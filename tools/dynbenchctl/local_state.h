// What `local up` started, kept in STATE_DIR/local.json so that `local down` stops exactly that.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/dynbenchctl/process_ref.h"

namespace dynbench::cli {

struct LocalWorker {
  ProcessRef process;
  std::string state_dir;
};

struct LocalState {
  ProcessRef coordinator;
  std::string address;  // host:port, as the coordinator announced it
  std::string http_url, metrics_url, database;
  std::vector<LocalWorker> workers;
};

// Paths below the state folder of a local fleet.
struct LocalPaths {
  explicit LocalPaths(std::string state_dir) : root(std::move(state_dir)) {}
  std::string root;
  std::string State() const { return root + "/local.json"; }
  std::string Coordinator() const { return root + "/coordinator"; }
  std::string CoordinatorJson() const { return Coordinator() + "/coordinator.json"; }
  std::string Worker(size_t number) const { return root + "/worker-" + std::to_string(number); }
  std::string Environments() const { return root + "/environments"; }
  std::string Log(const std::string& name) const { return root + "/log/" + name + ".log"; }
};

// An empty state when there is no file. DataLoss: the file is damaged; names it.
absl::StatusOr<LocalState> ReadLocalState(const LocalPaths& paths);
// Replaces the file at once; it is never seen half written.
absl::Status WriteLocalState(const LocalPaths& paths, const LocalState& state);
absl::Status RemoveLocalState(const LocalPaths& paths);

// --state-dir, else $DYNBENCH_STATE_DIR, else $XDG_STATE_HOME/dynbench/local, else
// ~/.local/state/dynbench/local. Absolute.
std::string LocalStateDir(const std::string& flag, const std::string& cwd);

}  // namespace dynbench::cli

#include "tools/dynbenchctl/source.h"

#include "common/base/status.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/db_source.h"
#include "tools/dynbenchctl/remote_source.h"

namespace dynbench::cli {

absl::StatusOr<std::unique_ptr<Source>> OpenSource(const Globals& globals) {
  if (!globals.db.empty()) return MakeDbSource(globals.db);
  ASSIGN_OR_RETURN(auto client, Client::Connect(globals.coordinator, globals.tls));
  return MakeRemoteSource(std::move(client));
}

absl::Status NeedsCoordinator(const Globals& globals, const std::string& verb) {
  if (globals.db.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("--db only reads: " + verb + " needs a coordinator");
}

}  // namespace dynbench::cli

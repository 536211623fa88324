#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/store/backup.h"
#include "common/store/store.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

constexpr int64_t kBackupTimeoutMs = int64_t{6} * 3600 * 1000;  // of a very large database

absl::StatusOr<int64_t> BackUpThroughCoordinator(const Globals& globals, const std::string& path) {
  ASSIGN_OR_RETURN(const auto client, Client::Connect(globals.coordinator, globals.tls));
  v1::BackupRequest request;
  request.set_path(path);
  v1::BackupReply reply;
  const auto call = Client::NewCall(kBackupTimeoutMs);
  RETURN_IF_ERROR(client->FromGrpc(client->stub().Backup(call.get(), request, &reply)));
  return reply.bytes();
}

absl::StatusOr<int64_t> BackUpFile(const std::string& database, const std::string& path) {
  ASSIGN_OR_RETURN(const auto db, store::Database::Open(database, store::Access::kReadOnly));
  return store::Backup(*db, path);
}

VerbResult Backup(Context& context, const std::string& given) {
  const std::string path = AbsolutePath(context, given);
  ASSIGN_OR_RETURN(const int64_t bytes, context.globals.db.empty()
                                            ? BackUpThroughCoordinator(context.globals, path)
                                            : BackUpFile(context.globals.db, path));
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.backup/1"}, {"path", path}, {"bytes", bytes}});
  } else if (!context.globals.quiet) {
    context.out() << path << ": " << bytes << " bytes, checked\n";
  }
  return ExitCode::kDone;
}

}  // namespace

void AddBackup(CommandTree& tree) {
  auto path = std::make_shared<std::string>();
  CLI::App* verb = tree.AddVerb(
      "backup",
      "Copy the database while everything goes on, and check the copy. The file is written on "
      "the coordinator's host (with --db: here).",
      [path](Context& context) { return Backup(context, *path); });
  verb->add_option("PATH", *path, "the copy; nothing may be there yet")->required();
}

}  // namespace dynbench::cli

#include "common/store/backup.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLimitMs = int64_t{1} << 40;

struct Closer {
  void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};
using Handle = std::unique_ptr<sqlite3, Closer>;

absl::Status Check(sqlite3* handle, const std::string& path, int64_t limit_ms) {
  MonotonicTime deadline = MonotonicNow() + limit_ms * kNsPerMs;
  sqlite3_progress_handler(
      handle, 10'000,
      [](void* at) { return MonotonicNow() > *static_cast<MonotonicTime*>(at) ? 1 : 0; },
      &deadline);
  std::string found;
  const int code = sqlite3_exec(
      handle, "PRAGMA quick_check(5)",
      [](void* text, int columns, char** values, char**) {
        if (columns > 0 && values[0] != nullptr) {
          std::string& all = *static_cast<std::string*>(text);
          all += (all.empty() ? "" : "; ") + std::string(values[0]);
        }
        return 0;
      },
      &found, nullptr);
  sqlite3_progress_handler(handle, 0, nullptr, nullptr);
  if (code == SQLITE_INTERRUPT) {
    return absl::DeadlineExceededError(
        absl::StrCat("checking ", path, " takes longer than ", limit_ms / 1000, " s"));
  }
  if (code != SQLITE_OK) return SqliteError(handle, code, absl::StrCat("checking ", path));
  if (found == "ok") return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, " is damaged: ", found, "; stop the coordinator and restore a backup"));
}

absl::Status Copy(Database& source, const std::string& path) {
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const Handle target(raw);
  if (opened != SQLITE_OK) return SqliteError(raw, opened, absl::StrCat("creating ", path));
  sqlite3_backup* backup = sqlite3_backup_init(raw, "main", source.handle(), "main");
  if (backup == nullptr) {
    return SqliteError(raw, sqlite3_errcode(raw), absl::StrCat("copying to ", path));
  }
  // In one step: one read transaction, so one snapshot, and no start over when somebody writes.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) {
    return SqliteError(raw, finished != SQLITE_OK ? finished : stepped,
                       absl::StrCat("copying to ", path));
  }
  // A copy is one file, whatever reads it first.
  RETURN_IF_ERROR(Execute(raw, "PRAGMA journal_mode = DELETE"));
  return Check(raw, path, kNoLimitMs);
}

absl::Status Sync(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const std::string why = std::strerror(errno);
  if (fd >= 0) close(fd);
  if (synced) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, " could not be made durable: ", why));
}

}  // namespace

absl::StatusOr<int64_t> Backup(Database& source, const std::string& path) {
  std::error_code error;
  if (path.empty() || path[0] != '/') {
    return absl::FailedPreconditionError(
        absl::StrCat("\"", path, "\" is no absolute path on the database's host"));
  }
  if (fs::exists(path, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " exists; a backup replaces nothing, choose another name"));
  }
  const std::string folder = fs::path(path).parent_path();
  if (!fs::is_directory(folder, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no folder ", folder, " on the database's host; make it first"));
  }
  const std::string part = path + ".part";
  fs::remove(part, error);  // of a backup that was cut short
  absl::Status status = Copy(source, part);
  if (status.ok()) status = Sync(part, O_RDONLY);
  if (status.ok() && rename(part.c_str(), path.c_str()) != 0) {
    status = absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  if (status.ok()) status = Sync(folder, O_RDONLY | O_DIRECTORY);
  if (!status.ok()) {
    fs::remove(part, error);
    return status;
  }
  return static_cast<int64_t>(fs::file_size(path, error));
}

absl::Status QuickCheck(Database& db, int64_t limit_ms) {
  return Check(db.handle(), db.path(), limit_ms);
}

}  // namespace dynbench::store

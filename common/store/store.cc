#include "common/store/store.h"

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "common/base/status.h"
#include "common/store/file_system.h"
#include "common/store/lock_file.h"
#include "common/store/migrations.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

// Long enough for a backup's or a person's short lock; coordinator/ingest waits on beyond it.
constexpr int kBusyTimeoutMs = 1'000;
constexpr int kReaderBusyTimeoutMs = 10'000;
constexpr int kLookasideBytes = 1200;
constexpr int kLookasideBlocks = 400;

std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// A path as an SQLite URI: everything but the unreserved characters and '/' is escaped.
std::string Uri(const std::string& path, const std::string& query) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const unsigned char c : path) {
    if (isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += static_cast<char>(c);
    } else {
      uri += '%';
      uri += kDigits[c >> 4];
      uri += kDigits[c & 15];
    }
  }
  return uri + "?" + query;
}

// Before the first connection of the process: SQLite counts its memory under one lock for all
// threads, which costs the writer a tenth of its time and is read by nobody here. Ignored where
// another part of the process has used SQLite already.
void ConfigureLibrary() {
  [[maybe_unused]] static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

bool Readable(sqlite3* handle) {
  return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

}  // namespace

Database::Database() : statements_(std::make_unique<StatementCache>()) {}

Database::~Database() {
  statements_.reset();
  if (handle_ != nullptr) sqlite3_close(handle_);
  if (lock_fd_ >= 0) close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, Access access) {
  std::unique_ptr<Database> db(new Database());
  db->path_ = path;
  RETURN_IF_ERROR(access == Access::kReadWrite ? db->OpenWriter() : db->OpenReader());
  return db;
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenInMemory() {
  std::unique_ptr<Database> db(new Database());
  db->path_ = ":memory:";
  RETURN_IF_ERROR(db->OpenHandle(db->path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  RETURN_IF_ERROR(Execute(db->handle_, "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"));
  RETURN_IF_ERROR(Migrate(db->handle_, Migrations()));
  return db;
}

absl::Status Database::OpenHandle(const std::string& name, int flags) {
  if (handle_ != nullptr) {
    sqlite3_close(handle_);
    handle_ = nullptr;
  }
  ConfigureLibrary();
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return SqliteError(handle_, code, absl::StrCat("opening ", path_));
  sqlite3_extended_result_codes(handle_, 0);
  // Rows of a result have a hundred columns; the default of 40 small blocks is used up by one.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, kLookasideBytes, kLookasideBlocks);
  return absl::OkStatus();
}

absl::Status Database::OpenWriter() {
  const std::string folder = FolderOf(path_);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::PermissionDeniedError(absl::StrCat("cannot create the folder ", folder, ": ",
                                                    error.message(), "; choose another one"));
  }
  RETURN_IF_ERROR(CheckFileSystem(folder));
  ASSIGN_OR_RETURN(lock_fd_, TakeLockFile(path_ + ".lock"));
  RETURN_IF_ERROR(OpenHandle(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  sqlite3_busy_timeout(handle_, kReaderBusyTimeoutMs);
  RETURN_IF_ERROR(CheckMigratable(handle_, Migrations()));
  RETURN_IF_ERROR(Execute(handle_,
                          "PRAGMA journal_mode = WAL;"
                          "PRAGMA synchronous = FULL;"
                          "PRAGMA foreign_keys = ON;"
                          "PRAGMA wal_autocheckpoint = 0;"
                          "PRAGMA cache_size = -65536;"
                          "PRAGMA temp_store = MEMORY;"));
  RETURN_IF_ERROR(Migrate(handle_, Migrations()));
  sqlite3_wal_hook(
      handle_,
      [](void* self, sqlite3* handle, const char*, int pages) {
        (void)handle;
        static_cast<Database*>(self)->wal_bytes_ = int64_t{pages} * 4096;
        return SQLITE_OK;
      },
      this);
  // What a killed coordinator left in the log.
  RETURN_IF_ERROR(Checkpoint(/*truncate=*/false));
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  return absl::OkStatus();
}

absl::Status Database::OpenReader() {
  if (access(path_.c_str(), F_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("no database at ", path_, "; give the coordinator's STATE-DIR/dynbench.db"));
  }
  RETURN_IF_ERROR(OpenHandle(path_, SQLITE_OPEN_READONLY));
  sqlite3_busy_timeout(handle_, kReaderBusyTimeoutMs);
  // In a folder that cannot be written SQLite cannot make the log's index. Without a log there is
  // nothing to index, and nobody writes there: the file is all.
  if (!Readable(handle_) && access((path_ + "-wal").c_str(), F_OK) != 0 &&
      access(FolderOf(path_).c_str(), W_OK) != 0) {
    RETURN_IF_ERROR(OpenHandle(Uri(path_, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  }
  RETURN_IF_ERROR(Execute(handle_, "PRAGMA query_only = ON; PRAGMA foreign_keys = ON;"));
  return CheckReadable(handle_, Migrations());
}

absl::Status Database::Checkpoint(bool truncate) {
  int log_frames = 0;
  int done_frames = 0;
  const int code = sqlite3_wal_checkpoint_v2(
      handle_, nullptr, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
      &log_frames, &done_frames);
  if (code != SQLITE_OK) return SqliteError(handle_, code, "checkpointing");
  // A log that was copied as a whole is written again from its start by the next commit.
  if (log_frames == done_frames) wal_bytes_ = 0;
  return absl::OkStatus();
}

}  // namespace dynbench::store

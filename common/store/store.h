// The store: one SQLite database (WAL, synchronous=FULL, foreign keys on) with everything that a
// coordinator must not lose. docs/schema.md documents tables and views.
//
// One Database object = one connection; thread-compatible. The coordinator has one writing
// connection (coordinator/ingest owns it) and any number of readers; dynbenchctl --db opens
// readers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;

namespace dynbench::store {

inline constexpr int kSchemaVersion = 11;

enum class Access { kReadWrite, kReadOnly };

class StatementCache;

class Database {
 public:
  // Opens and, for kReadWrite, creates and migrates. FailedPrecondition: a network file system
  // (names it and what to do), a newer schema than this program knows, a file that is no dynbench
  // database, or a second coordinator (kReadWrite takes an exclusive lock file, PATH.lock, for its
  // lifetime; the kernel frees it when the process dies). NotFound: kReadOnly and no such file.
  //
  // A reader sees what was committed, whether the coordinator lives, stopped or was killed; a
  // database in a folder that cannot be written is read as it is.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Access access);
  // An empty database without a file, for simulations: the same schema, constraints and triggers;
  // no write-ahead log, and one connection only.
  static absl::StatusOr<std::unique_ptr<Database>> OpenInMemory();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  StatementCache& statements() { return *statements_; }

  // Bytes in the write-ahead log that this writing connection knows of.
  int64_t wal_bytes() const { return wal_bytes_; }
  // Copies the log into the database file. `truncate` also empties the log, and waits for readers
  // (busy timeout) to do so; without it nobody is waited for. Only outside a transaction.
  absl::Status Checkpoint(bool truncate);

 private:
  Database();
  absl::Status OpenWriter();
  absl::Status OpenReader();
  absl::Status OpenHandle(const std::string& name, int flags);

  sqlite3* handle_ = nullptr;
  int lock_fd_ = -1;
  int64_t wal_bytes_ = 0;
  std::string path_;
  std::unique_ptr<StatementCache> statements_;
};

}  // namespace dynbench::store

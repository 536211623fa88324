// The store: one SQLite database (WAL, synchronous=FULL, foreign keys on) with everything that a
// coordinator must not lose. docs/schema.md documents tables and views.
//
// One Database object = one connection; thread-compatible. The coordinator has one writing
// connection (coordinator/ingest owns it) and any number of readers; dynbenchctl --db opens
// readers.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;

namespace dynbench::store {

inline constexpr int kSchemaVersion = 1;

enum class Access { kReadWrite, kReadOnly };

class Database {
 public:
  // Opens and, for kReadWrite, creates and migrates. FailedPrecondition: a network file system
  // (names it and what to do), a newer schema than this program knows, or a second coordinator
  // (kReadWrite takes an exclusive lock file beside the database for its lifetime).
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

 private:
  Database() = default;
  sqlite3* handle_ = nullptr;
  int lock_fd_ = -1;
  std::string path_;
};

}  // namespace dynbench::store

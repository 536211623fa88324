// A copy of a database while it is being written: SQLite's online backup, read from one snapshot.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/store/store.h"

namespace dynbench::store {

// Copies what is committed now to `path`, checks the copy (integrity) and makes it durable; only
// then does it get its name, so a file at `path` is always whole. Returns its size in bytes.
// Nobody is kept from writing, but the write-ahead log grows while it runs.
//
// AlreadyExists: there is something at `path`. FailedPrecondition: no absolute path, or its folder
// is not there. ResourceExhausted: the disk is full. DataLoss: the copy does not check, which says
// that the database is damaged.
absl::StatusOr<int64_t> Backup(Database& source, const std::string& path);

// PRAGMA quick_check within `limit_ms`. DataLoss: what is wrong. DeadlineExceeded: it takes longer.
absl::Status QuickCheck(Database& db, int64_t limit_ms);

}  // namespace dynbench::store

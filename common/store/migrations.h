// The schema, as a list of forward-only steps. Private to common/store and its tests.
//
// A step is frozen once it was released: a change of the schema is a new step, so that a database
// of any released version becomes today's. Each step runs in a transaction of its own together with
// its row in schema_version.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;

namespace dynbench::store {

struct Migration {
  int version = 0;  // what the schema is after it; 1, 2, …
  std::string sql;
};

// All steps of this program; the last one's version is kSchemaVersion.
const std::vector<Migration>& Migrations();

// 0: empty. FailedPrecondition: a database of some other program.
absl::StatusOr<int> ReadSchemaVersion(sqlite3* db);

// Whether Migrate could bring the database to the last step. FailedPrecondition: it is newer.
// Changes nothing.
absl::Status CheckMigratable(sqlite3* db, const std::vector<Migration>& migrations);

// Brings the database to the last step. On an error the steps before the failing one stay.
absl::Status Migrate(sqlite3* db, const std::vector<Migration>& migrations);

// For readers, which cannot migrate: the database must have exactly the last step's version.
absl::Status CheckReadable(sqlite3* db, const std::vector<Migration>& migrations);

}  // namespace dynbench::store

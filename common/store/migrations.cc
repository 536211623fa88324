#include "common/store/migrations.h"

#include <sqlite3.h>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/store/schema_v1.h"
#include "common/store/schema_v10.h"
#include "common/store/schema_v11.h"
#include "common/store/schema_v2.h"
#include "common/store/schema_v3.h"
#include "common/store/schema_v4.h"
#include "common/store/schema_v5.h"
#include "common/store/schema_v6.h"
#include "common/store/schema_v7.h"
#include "common/store/schema_v8.h"
#include "common/store/schema_v9.h"
#include "common/store/statement.h"
#include "common/store/store.h"

namespace dynbench::store {
namespace {

// "dynb": PRAGMA application_id, so that file(1) and we know our databases.
constexpr int kApplicationId = 0x64796e62;

absl::StatusOr<int64_t> ReadNumber(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  const int64_t number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  const absl::Status status = code == SQLITE_ROW || code == SQLITE_DONE
                                  ? absl::OkStatus()
                                  : SqliteError(db, code, "reading its version");
  sqlite3_finalize(statement);
  if (!status.ok()) return status;
  return number;
}

std::string FileName(sqlite3* db) {
  const char* name = sqlite3_db_filename(db, "main");
  return name != nullptr ? name : "";
}

absl::Status RefuseNewer(sqlite3* db, int version, int known) {
  return absl::FailedPreconditionError(absl::StrCat(
      "database ", FileName(db), " has schema ", version, ", this program knows ", known,
      " at most; use the newer dynbench that wrote it, or restore a backup "
      "from before the upgrade"));
}

absl::Status ApplyStep(sqlite3* db, const Migration& step) {
  RETURN_IF_ERROR(Execute(db, "BEGIN IMMEDIATE"));
  absl::Status status = Execute(db, step.sql);
  if (status.ok()) {
    status =
        Execute(db, absl::StrCat("INSERT INTO schema_version(version, applied_unix_ms) VALUES (",
                                 step.version, ", CAST(unixepoch() AS INTEGER) * 1000)"));
  }
  if (status.ok()) status = Execute(db, "COMMIT");
  if (status.ok()) return status;
  if (sqlite3_get_autocommit(db) == 0) (void)Execute(db, "ROLLBACK");
  return Annotate(status, absl::StrCat("migration to schema ", step.version));
}

}  // namespace

const std::vector<Migration>& Migrations() {
  static const auto* const migrations =
      new std::vector<Migration>{{1, kSchemaV1}, {2, kSchemaV2},   {3, kSchemaV3},  {4, kSchemaV4},
                                 {5, kSchemaV5}, {6, kSchemaV6},   {7, kSchemaV7},  {8, kSchemaV8},
                                 {9, kSchemaV9}, {10, kSchemaV10}, {11, kSchemaV11}};
  CHECK_EQ(migrations->back().version, kSchemaVersion);
  return *migrations;
}

absl::StatusOr<int> ReadSchemaVersion(sqlite3* db) {
  ASSIGN_OR_RETURN(const int64_t tables, ReadNumber(db, "SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  ASSIGN_OR_RETURN(const int64_t application, ReadNumber(db, "PRAGMA application_id"));
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat(FileName(db), " is not a dynbench database; give another path"));
  }
  ASSIGN_OR_RETURN(const int64_t version,
                   ReadNumber(db, "SELECT max(version) FROM schema_version"));
  return static_cast<int>(version);
}

absl::Status CheckMigratable(sqlite3* db, const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const int version, ReadSchemaVersion(db));
  const int known = migrations.back().version;
  return version > known ? RefuseNewer(db, version, known) : absl::OkStatus();
}

absl::Status Migrate(sqlite3* db, const std::vector<Migration>& migrations) {
  RETURN_IF_ERROR(CheckMigratable(db, migrations));
  ASSIGN_OR_RETURN(const int version, ReadSchemaVersion(db));
  for (const Migration& step : migrations) {
    if (step.version > version) RETURN_IF_ERROR(ApplyStep(db, step));
  }
  return absl::OkStatus();
}

absl::Status CheckReadable(sqlite3* db, const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const int version, ReadSchemaVersion(db));
  const int known = migrations.back().version;
  if (version > known) return RefuseNewer(db, version, known);
  if (version < known) {
    return absl::FailedPreconditionError(
        absl::StrCat("database ", FileName(db), " has schema ", version, ", this program reads ",
                     known, "; start a coordinator of this version on it once, which migrates it"));
  }
  return absl::OkStatus();
}

}  // namespace dynbench::store

#include "common/store/statement.h"

#include <sqlite3.h>

#include <utility>

#include "common/base/status.h"

namespace dynbench::store {

absl::Status SqliteError(sqlite3* db, int code, std::string_view doing) {
  const char* file = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  const int extended = db != nullptr ? sqlite3_extended_errcode(db) : code;
  const std::string message =
      absl::StrCat("database ", file != nullptr ? file : "?", ": ", std::string(doing), ": ",
                   db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          absl::StrCat(message, "; another process holds the database, try again"));
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(message, "; free space on its disk"));
    case SQLITE_CONSTRAINT:
      if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY ||
          extended == SQLITE_CONSTRAINT_ROWID) {
        return absl::AlreadyExistsError(message);
      }
      return absl::FailedPreconditionError(message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(message, "; restore it from a backup"));
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(
          absl::StrCat(message, "; check the owner and mode of the file and of its folder"));
    default:
      return absl::InternalError(message);
  }
}

StatementCache::~StatementCache() {
  for (auto& [sql, entry] : entries_) {
    for (sqlite3_stmt* statement : entry->free) sqlite3_finalize(statement);
  }
}

StatementCache::Entry& StatementCache::Of(std::string_view sql) {
  if (const auto it = entries_.find(sql); it != entries_.end()) return *it->second;
  auto entry = std::make_unique<Entry>();
  entry->sql = std::string(sql);
  const std::string_view key = entry->sql;
  return *(entries_[key] = std::move(entry));
}

Statement::Statement(Database& db, std::string_view sql)
    : db_(db), entry_(db.statements().Of(sql)) {
  if (!entry_.free.empty()) {
    statement_ = entry_.free.back();
    entry_.free.pop_back();
    return;
  }
  Note(sqlite3_prepare_v3(db_.handle(), entry_.sql.data(), static_cast<int>(entry_.sql.size()),
                          SQLITE_PREPARE_PERSISTENT, &statement_, nullptr),
       "preparing");
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  entry_.free.push_back(statement_);
}

void Statement::Note(int code, std::string_view doing) {
  if (code != SQLITE_OK && error_.ok()) {
    error_ =
        SqliteError(db_.handle(), code, absl::StrCat(std::string(doing), " '", entry_.sql, "'"));
  }
}

absl::StatusOr<bool> Statement::Step() {
  if (!error_.ok()) return error_;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Note(code, "running");
  return error_;
}

absl::Status Statement::Run() {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) break;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  next_ = 1;
  return absl::OkStatus();
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::Real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return size > 0 ? std::string(static_cast<const char*>(bytes), static_cast<size_t>(size))
                  : std::string();
}

void Statement::BindNext(int64_t value) {
  if (error_.ok()) Note(sqlite3_bind_int64(statement_, next_++, value), "binding");
}
void Statement::BindNext(double value) {
  if (error_.ok()) Note(sqlite3_bind_double(statement_, next_++, value), "binding");
}
void Statement::BindNext(std::string_view value) {
  if (!error_.ok()) return;
  Note(sqlite3_bind_text64(statement_, next_++, value.empty() ? "" : value.data(), value.size(),
                           SQLITE_TRANSIENT, SQLITE_UTF8),
       "binding");
}
void Statement::BindNext(Blob value) {
  if (!error_.ok()) return;
  Note(sqlite3_bind_blob64(statement_, next_++, value.bytes.empty() ? "" : value.bytes.data(),
                           value.bytes.size(), SQLITE_TRANSIENT),
       "binding");
}
void Statement::BindNext(std::nullopt_t) {
  if (error_.ok()) Note(sqlite3_bind_null(statement_, next_++), "binding");
}

absl::Status Execute(sqlite3* db, const std::string& sql) {
  const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(db, code, absl::StrCat("running '", sql, "'"));
  return absl::OkStatus();
}

}  // namespace dynbench::store

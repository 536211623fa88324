// Prepared SQL: a thin wrapper around sqlite3_stmt with a cache per connection, so that the hot
// path (RecordResult, InsertLease) prepares each text once in the life of the connection.
//
//   Statement s(db, "SELECT a, b FROM t WHERE id = ?");
//   s.Bind(id);
//   ASSIGN_OR_RETURN(bool row, s.Step());
//   if (row) Use(s.Int(0), s.Text(1));
//
// A Statement gives its sqlite3_stmt back to the cache when it is destroyed; it must not outlive
// its Database. An error of preparing or binding is kept and returned by Step or Run.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dynbench::store {

// What SQLite says of its last error on `db`, as a status that names the database and, where there
// is one, the next step: Unavailable (busy), ResourceExhausted (full), AlreadyExists (unique),
// FailedPrecondition (another constraint), DataLoss (corrupt), PermissionDenied, Internal.
absl::Status SqliteError(sqlite3* db, int code, std::string_view doing);

// Prepared statements that are not in use, by their text.
class StatementCache {
 public:
  // One text and its statements; stays where it is for the life of the cache.
  struct Entry {
    std::string sql;
    std::vector<sqlite3_stmt*> free;
  };

  StatementCache() = default;
  ~StatementCache();  // finalizes all of them
  StatementCache(const StatementCache&) = delete;
  StatementCache& operator=(const StatementCache&) = delete;

  Entry& Of(std::string_view sql);

 private:
  // The keys are views of the entries' texts.
  std::unordered_map<std::string_view, std::unique_ptr<Entry>> entries_;
};

// Bytes that are bound as a BLOB (a plain string is TEXT).
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  Statement(Database& db, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next parameters, in order.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    (BindNext(values), ...);
    return *this;
  }

  // True: a row is there. False: done.
  absl::StatusOr<bool> Step();
  // Steps to the end, dropping rows, and rewinds with all parameters unbound.
  absl::Status Run();

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;  // TEXT or BLOB, byte for byte; NULL: empty

 private:
  void BindNext(int64_t value);
  void BindNext(int value) { BindNext(static_cast<int64_t>(value)); }
  void BindNext(bool value) { BindNext(static_cast<int64_t>(value)); }
  void BindNext(double value);
  void BindNext(std::string_view value);
  void BindNext(const std::string& value) { BindNext(std::string_view(value)); }
  void BindNext(const char* value) { BindNext(std::string_view(value)); }
  void BindNext(Blob value);
  void BindNext(std::nullopt_t);
  void BindNext(UnixTimeMs value) { BindNext(value.ms); }
  template <typename Tag>
  void BindNext(const IntId<Tag>& id) {
    BindNext(id.value);
  }
  template <typename Tag>
  void BindNext(const TextId<Tag>& id) {
    BindNext(std::string_view(id.value));
  }
  template <typename T>
  void BindNext(const std::optional<T>& value) {
    if (value) {
      BindNext(*value);
    } else {
      BindNext(std::nullopt);
    }
  }
  void Note(int code, std::string_view doing);

  Database& db_;
  StatementCache::Entry& entry_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  absl::Status error_;
};

// Runs SQL text that has no parameters and returns no rows; may hold several statements.
absl::Status Execute(sqlite3* db, const std::string& sql);

// An id for Bind that is NULL when it is none.
template <typename Tag>
std::optional<int64_t> NullIfNone(const IntId<Tag>& id) {
  return id ? std::optional<int64_t>(id.value) : std::nullopt;
}

}  // namespace dynbench::store

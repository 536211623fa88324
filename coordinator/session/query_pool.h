// A few threads, each with a read-only connection of its own, for everything that asks the store:
// readers never wait for the writer, and no gRPC thread ever waits for SQLite. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/store/store.h"

namespace dynbench::session {

class QueryPool {
 public:
  using Query = std::function<void(store::Database&)>;
  // More than this waiting means that clients ask faster than the disk answers.
  static constexpr size_t kQueueLimit = 1000;

  static absl::StatusOr<std::unique_ptr<QueryPool>> Open(const std::string& database, int threads);
  ~QueryPool();  // runs what is queued, then stops
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // Runs `query` on one of the threads. ResourceExhausted (and `query` is not run) when kQueueLimit
  // wait. `query` may wait for the dispatcher's answers, which are bounded in time.
  absl::Status Run(Query query) EXCLUDES(mu_);

 private:
  QueryPool() = default;
  void Work(store::Database& db) EXCLUDES(mu_);

  Mutex mu_;
  CondVar wake_;
  std::deque<Query> queue_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<store::Database>> databases_;
  std::vector<std::thread> threads_;
};

}  // namespace dynbench::session

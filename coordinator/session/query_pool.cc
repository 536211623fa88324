#include "coordinator/session/query_pool.h"

#include <utility>

#include "common/base/status.h"

namespace dynbench::session {

absl::StatusOr<std::unique_ptr<QueryPool>> QueryPool::Open(const std::string& database,
                                                           int threads) {
  std::unique_ptr<QueryPool> pool(new QueryPool);
  for (int i = 0; i < threads; ++i) {
    ASSIGN_OR_RETURN(auto db, store::Database::Open(database, store::Access::kReadOnly));
    pool->databases_.push_back(std::move(db));
  }
  for (const auto& db : pool->databases_) {
    pool->threads_.emplace_back([pool = pool.get(), db = db.get()] { pool->Work(*db); });
  }
  return pool;
}

QueryPool::~QueryPool() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status QueryPool::Run(Query query) {
  MutexLock lock(mu_);
  if (queue_.size() >= kQueueLimit) {
    return absl::ResourceExhaustedError("too many requests wait for the store; try again later");
  }
  queue_.push_back(std::move(query));
  wake_.NotifyOne();
  return absl::OkStatus();
}

void QueryPool::Work(store::Database& db) {
  while (true) {
    Query query;
    {
      MutexLock lock(mu_);
      while (queue_.empty() && !stopping_) wake_.Wait(mu_);
      if (queue_.empty()) return;
      query = std::move(queue_.front());
      queue_.pop_front();
    }
    query(db);
  }
}

}  // namespace dynbench::session

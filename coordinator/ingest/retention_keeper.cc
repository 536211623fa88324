#include "coordinator/ingest/retention_keeper.h"

#include <chrono>

#include "common/base/status.h"
#include "spdlog/spdlog.h"

namespace dynbench::ingest {
namespace {

UnixTimeMs Before(UnixTimeMs now, int64_t kept_ms) {
  return kept_ms > 0 ? UnixTimeMs{now.ms - kept_ms} : UnixTimeMs{};
}

}  // namespace

RetentionKeeper::RetentionKeeper(RetentionOptions options, Ingest* ingest)
    : options_(options), ingest_(ingest) {
  if (options_.samples_ms > 0 || options_.logs_ms > 0 || options_.activity_ms > 0) {
    thread_ = std::thread([this] { Run(); });
  }
}

RetentionKeeper::~RetentionKeeper() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool RetentionKeeper::Wait(int64_t ms) {
  const MonotonicTime until = MonotonicNow() + ms * kNsPerMs;
  MutexLock lock(mu_);
  while (!stopping_ && MonotonicNow() < until) {
    stop_.WaitFor(mu_, std::chrono::nanoseconds(until - MonotonicNow()));
  }
  return !stopping_;
}

void RetentionKeeper::Run() {
  do {
    Pass();
  } while (Wait(options_.every_ms));
}

void RetentionKeeper::Pass() {
  const UnixTimeMs now = UnixNow();
  const store::Retention retention{Before(now, options_.samples_ms), Before(now, options_.logs_ms),
                                   Before(now, options_.activity_ms)};
  store::RetentionCursor cursor;
  do {
    store::RetentionCursor next;
    const absl::Status status = ingest_->ApplyAndWait([&](store::Database& db) {
      ASSIGN_OR_RETURN(next, store::DropSome(db, retention, cursor));
      return absl::OkStatus();
    });
    if (!status.ok()) {
      spdlog::warn("old evidence could not be dropped: {}", status.ToString());
      return;
    }
    cursor = next;
  } while (!cursor.done && Wait(options_.pause_ms));
  if (cursor.samples_dropped + cursor.logs_dropped + cursor.activity_dropped == 0) return;
  spdlog::info("retention dropped samples of {} results, {} logs, {} spans of slot time and events",
               cursor.samples_dropped, cursor.logs_dropped, cursor.activity_dropped);
}

}  // namespace dynbench::ingest

// A server's stream of pages: each page is made on a query thread when the one before has been
// written, so a slow client holds one page and no thread.
//
// new PageStream(pool, next) starts at once and deletes itself when the call is over.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "coordinator/session/query_pool.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::session {

enum class Page { kMore, kLast, kNone };  // kNone: there is no page any more

template <typename Message>
class PageStream : public grpc::ServerWriteReactor<Message> {
 public:
  // Fills the (empty) message.
  using Next = std::function<absl::StatusOr<Page>(store::Database&, Message*)>;

  PageStream(QueryPool* pool, Next next) : pool_(pool), next_(std::move(next)) { Produce(); }

  void OnWriteDone(bool ok) override {
    if (!ok || last_) return this->Finish(grpc::Status::OK);
    Produce();
  }
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  void Produce() {
    if (cancelled_) return this->Finish(grpc::Status::CANCELLED);
    const absl::Status queued = pool_->Run([this](store::Database& db) {
      message_.Clear();
      const absl::StatusOr<Page> page = next_(db, &message_);
      if (!page.ok()) return this->Finish(ToGrpc(page.status()));
      if (*page == Page::kNone) return this->Finish(grpc::Status::OK);
      last_ = *page == Page::kLast;
      this->StartWrite(&message_);
    });
    if (!queued.ok()) this->Finish(ToGrpc(queued));
  }

  QueryPool* const pool_;
  const Next next_;
  Message message_;
  bool last_ = false;
  std::atomic<bool> cancelled_{false};
};

}  // namespace dynbench::session

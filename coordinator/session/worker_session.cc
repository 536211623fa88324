#include "coordinator/session/worker_session.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/version.h"
#include "coordinator/session/object_calls.h"
#include "coordinator/session/page_stream.h"
#include "coordinator/session/rpc_status.h"
#include "proto/dynbench/convert.h"
#include "proto/dynbench/keepalive.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

constexpr size_t kWorkerIdLimit = 128;

// One worker's stream. Lives until gRPC and the dispatcher have both let go of it.
class Stream : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>,
               public WorkerLink,
               public std::enable_shared_from_this<Stream> {
 public:
  Stream(grpc::CallbackServerContext* context, Dispatcher* dispatcher)
      : dispatcher_(dispatcher), context_(context) {}

  void Begin() {
    self_ = shared_from_this();
    StartRead(&incoming_);
  }

  // ---- WorkerLink ----
  void Send(v1::CoordinatorMessage message) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (ending_ || over_) return;
    if (outgoing_.size() >= kOutgoingLimit) {
      spdlog::warn("a worker does not read its {} messages; its stream is ended", kOutgoingLimit);
      return AbortLocked();
    }
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) WriteFrontLocked();
  }

  void Close(const std::string& reason) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    EndLocked(grpc::Status(grpc::StatusCode::UNAVAILABLE, reason));
  }

  void Abort() override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    AbortLocked();
  }

  bool closed() const override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return ending_ || over_;
  }

  // ---- reactor ----
  void OnReadDone(bool ok) override {
    if (!ok) {  // the worker closed its side, or the call is cancelled
      MutexLock lock(mu_);
      return EndLocked(grpc::Status::OK);
    }
    if (worker_) {
      dispatcher_->Message(self_, worker_, std::exchange(incoming_, {}));
    } else if (!Greet()) {
      return;
    }
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    outgoing_.pop_front();
    if (!ok) {  // nothing reaches the worker any more
      outgoing_.clear();
      EndLocked(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the worker does not answer"));
    }
    if (!outgoing_.empty()) return WriteFrontLocked();
    if (ending_) FinishLocked();
  }

  void OnCancel() override EXCLUDES(mu_) {
    MutexLock lock(mu_);
    // The write under way, if any, ends by itself; what follows it would reach nobody.
    if (outgoing_.size() > 1) outgoing_.erase(outgoing_.begin() + 1, outgoing_.end());
    EndLocked(grpc::Status::CANCELLED);
  }

  void OnDone() override EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      over_ = true;
      context_ = nullptr;
    }
    if (worker_) dispatcher_->Left(self_, worker_);
    self_.reset();
  }

 private:
  // The first message. False: refused, and nothing more is read.
  bool Greet() EXCLUDES(mu_) {
    if (!incoming_.has_hello()) {
      MutexLock lock(mu_);
      EndLocked(grpc::Status(grpc::StatusCode::FAILED_PRECONDITION,
                             "the first message of a worker must be Hello"));
      return false;
    }
    v1::Welcome welcome = JudgeHello(incoming_.hello(), proto::kProtocolVersion);
    welcome.set_coordinator_version(kVersion);
    welcome.set_beat_interval_ms(dispatcher_->options().beat_interval_ns / kNsPerMs);
    welcome.set_lease_ttl_ms(dispatcher_->options().lease_ttl_ns / kNsPerMs);
    if (welcome.verdict() == v1::Welcome::REFUSED) {
      spdlog::warn("refused a worker from {}: {}", incoming_.hello().host(), welcome.reason());
      v1::CoordinatorMessage message;
      *message.mutable_welcome() = welcome;
      Send(std::move(message));
      Close(welcome.reason());
      return false;
    }
    worker_ = WorkerId(incoming_.hello().worker_id());
    dispatcher_->Hello(self_, std::move(*incoming_.mutable_hello()), std::move(welcome));
    incoming_.Clear();
    return true;
  }

  // What is followed by another message may wait for it in gRPC's buffer: one packet for both.
  void WriteFrontLocked() REQUIRES(mu_) {
    grpc::WriteOptions options;
    if (outgoing_.size() > 1) options.set_buffer_hint();
    StartWrite(&outgoing_.front(), options);
  }

  // Ends the stream after what is queued.
  void EndLocked(grpc::Status status) REQUIRES(mu_) {
    if (ending_ || over_) return;
    ending_ = true;
    status_ = std::move(status);
    if (outgoing_.empty()) FinishLocked();
  }

  void AbortLocked() REQUIRES(mu_) {
    if (over_) return;
    if (context_ != nullptr) context_->TryCancel();
  }

  void FinishLocked() REQUIRES(mu_) {
    if (std::exchange(finished_, true)) return;
    Finish(status_);
  }

  Dispatcher* const dispatcher_;
  std::shared_ptr<Stream> self_;  // gRPC's share of the ownership
  WorkerId worker_;               // set by the first message; read by the reactor's callbacks only
  v1::WorkerMessage incoming_;

  mutable Mutex mu_;
  grpc::CallbackServerContext* context_ GUARDED_BY(mu_);  // null once the call is over
  // The front is being written; a deque keeps it in place while others are pushed.
  std::deque<v1::CoordinatorMessage> outgoing_ GUARDED_BY(mu_);
  grpc::Status status_ GUARDED_BY(mu_);
  bool ending_ GUARDED_BY(mu_) = false;
  bool finished_ GUARDED_BY(mu_) = false;
  bool over_ GUARDED_BY(mu_) = false;
};

}  // namespace

v1::Welcome JudgeHello(const v1::Hello& hello, int our_protocol_version) {
  v1::Welcome welcome;
  welcome.set_verdict(v1::Welcome::OK);
  const auto refuse = [&welcome](std::string reason) {
    welcome.set_verdict(v1::Welcome::REFUSED);
    welcome.set_reason(std::move(reason));
  };
  const std::string& id = hello.worker_id();
  const int theirs = hello.protocol_version();
  if (theirs > our_protocol_version) {
    refuse(absl::StrCat("the worker speaks protocol ", theirs, " and this coordinator ",
                        our_protocol_version, "; upgrade the coordinator before its workers"));
  } else if (theirs <= 0 || theirs < our_protocol_version - 1) {
    refuse(absl::StrCat("the worker speaks protocol ", theirs, " and this coordinator needs ",
                        std::max(1, our_protocol_version - 1), " or ", our_protocol_version,
                        "; upgrade the worker"));
  } else if (id.empty() || id.size() > kWorkerIdLimit ||
             !std::all_of(id.begin(), id.end(),
                          [](unsigned char c) { return absl::ascii_isgraph(c); })) {
    refuse(absl::StrCat("the worker's id is empty, longer than ", kWorkerIdLimit,
                        " characters or has characters that are not printable; remove its "
                        "identity.json and start it again"));
  } else if (theirs < our_protocol_version) {
    welcome.set_verdict(v1::Welcome::DEGRADED);
    welcome.set_reason(absl::StrCat("the worker speaks protocol ", theirs, ", one behind ",
                                    our_protocol_version,
                                    "; what came later is not used with it: upgrade the worker"));
  }
  return welcome;
}

grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* WorkerSessionService::Connect(
    grpc::CallbackServerContext* context) {
  auto stream = std::make_shared<Stream>(context, dispatcher_);
  stream->Begin();
  return stream.get();
}

grpc::ServerWriteReactor<v1::FileChunk>* WorkerSessionService::FetchFile(
    grpc::CallbackServerContext* /*context*/, const v1::FetchFileRequest* request) {
  struct State {
    std::string bytes;
    size_t sent = 0;
    bool loaded = false;
  };
  auto state = std::make_shared<State>();
  return new PageStream<v1::FileChunk>(
      pool_,
      [state, sha256 = request->sha256()](store::Database& db,
                                          v1::FileChunk* chunk) -> absl::StatusOr<Page> {
        if (!state->loaded) {
          auto bytes = store::GetFile(db, sha256);
          if (!bytes.ok()) return bytes.status();
          state->bytes = *std::move(bytes);
          state->loaded = true;
        }
        chunk->set_data(state->bytes.substr(state->sent, proto::kChunkBytes));
        state->sent += chunk->data().size();
        return state->sent == state->bytes.size() ? Page::kLast : Page::kMore;
      });
}

grpc::ServerUnaryReactor* WorkerSessionService::FindObjects(grpc::CallbackServerContext* context,
                                                            const v1::FindObjectsRequest* request,
                                                            v1::FindObjectsReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::Status queued = pool_->Run([this, request, reply, reactor](store::Database&) {
    reactor->Finish(session::FindObjects(*objects_, *request, reply));
  });
  if (!queued.ok()) reactor->Finish(ToGrpc(queued));
  return reactor;
}

grpc::ServerReadReactor<v1::ObjectPieces>* WorkerSessionService::PutObjects(
    grpc::CallbackServerContext* /*context*/, v1::PutObjectsReply* reply) {
  return NewPutObjects(objects_, reply);
}

grpc::ServerWriteReactor<v1::ObjectPieces>* WorkerSessionService::FetchObjects(
    grpc::CallbackServerContext* /*context*/, const v1::FetchObjectsRequest* request) {
  return NewFetchObjects(objects_, pool_, *request);
}

}  // namespace dynbench::session
